/* SPDX-License-Identifier: MIT */
/* What is added to Mbed TLS's own configuration: requests of several threads share its state. */
#define MBEDTLS_THREADING_C
#define MBEDTLS_THREADING_PTHREAD
