! SPDX-License-Identifier: MIT
!
! A Fortran program that ends while it has ids open:  vol-f-exit nothing|dataset|file end|stop|h5close
! closes nothing, the dataset, or the file, before it ends in that way.
program f_exit
  use hdf5
  implicit none
  integer(hid_t) :: file, group, space, list, dataset
  integer(hsize_t), dimension(1) :: dims = (/ 10 /), chunk = (/ 4 /)
  integer, dimension(10) :: values
  integer :: status, i
  character(len=16) :: closed, ending

  call get_command_argument(1, closed)
  call get_command_argument(2, ending)
  values = (/ (i * 3, i = 1, 10) /)

  call h5open_f(status)
  call h5fcreate_f("f.h5", H5F_ACC_TRUNC_F, file, status)
  if (status < 0) error stop 3
  call h5gcreate_f(file, "g", group, status)
  call h5screate_simple_f(1, dims, space, status)
  call h5pcreate_f(H5P_DATASET_CREATE_F, list, status)
  call h5pset_chunk_f(list, 1, chunk, status)
  call h5pset_obj_track_times_f(list, .false., status)
  call h5dcreate_f(group, "d", H5T_STD_I32LE, space, dataset, status, list)
  call h5dwrite_f(dataset, H5T_NATIVE_INTEGER, values, dims, status)
  if (status < 0) error stop 3

  if (closed == "dataset") call h5dclose_f(dataset, status)
  if (closed == "file") call h5fclose_f(file, status)
  if (ending == "h5close") call h5close_f(status)
  if (ending == "stop") stop
end program f_exit
