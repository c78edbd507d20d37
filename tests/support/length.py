# SPDX-License-Identifier: MIT
"""How much the tests do that could go on for ever, and the seed of all that is random in them.

ZARRBRIDGE_TEST_LENGTH is `short` unless given, `long` in `tools/test --all`, or `full`: all that a test can do, which
takes hours. ZARRBRIDGE_SEED is 1 unless given; `tools/test --all` chooses one and prints it. check.h has the same for
tests in C."""
import os

LENGTH = os.environ.get("ZARRBRIDGE_TEST_LENGTH") or "short"
SEED = int(os.environ.get("ZARRBRIDGE_SEED") or 1)
assert LENGTH in ("short", "long", "full"), LENGTH


def by_length(short, long, full=None):
    """The one of them that is meant; `long` stands for `full` where there is no more."""
    return {"short": short, "long": long, "full": long if full is None else full}[LENGTH]
