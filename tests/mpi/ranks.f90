! SPDX-License-Identifier: MIT
! A program of several ranks in Fortran: ranks FILE. Each rank writes the columns that are its own,
! collectively, into a dataset that all have created.
program ranks
    use mpi
    use hdf5
    implicit none
    integer, parameter :: rows = 10, columns = 3
    character(len=1024) :: name
    integer :: rank, n_ranks, mpierror, error, i, j
    integer :: data(rows, columns)
    integer(hid_t) :: fapl, dxpl, file, space, memory, dset
    integer(hsize_t) :: whole(2), part(2), offset(2)

    call get_command_argument(1, name)
    call MPI_Init(mpierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, mpierror)
    call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, mpierror)
    call h5open_f(error)
    call h5pcreate_f(H5P_FILE_ACCESS_F, fapl, error)
    call h5pset_fapl_mpio_f(fapl, MPI_COMM_WORLD, MPI_INFO_NULL, error)
    call h5fcreate_f(trim(name), H5F_ACC_TRUNC_F, file, error, access_prp=fapl)
    call check(error, 1)
    call h5pclose_f(fapl, error)

    part = [rows, columns]
    whole = [rows, columns * n_ranks]
    offset = [0, columns * rank]
    call h5screate_simple_f(2, whole, space, error)
    call h5dcreate_f(file, "columns", H5T_NATIVE_INTEGER, space, dset, error)
    call check(error, 2)
    call h5screate_simple_f(2, part, memory, error)
    call h5sselect_hyperslab_f(space, H5S_SELECT_SET_F, offset, part, error)
    do j = 1, columns
        do i = 1, rows
            data(i, j) = (columns * rank + j) * 100 + i
        end do
    end do
    call h5pcreate_f(H5P_DATASET_XFER_F, dxpl, error)
    call h5pset_dxpl_mpio_f(dxpl, H5FD_MPIO_COLLECTIVE_F, error)
    call h5dwrite_f(dset, H5T_NATIVE_INTEGER, data, part, error, memory, space, dxpl)
    call check(error, 3)

    call h5dclose_f(dset, error)
    call h5sclose_f(space, error)
    call h5sclose_f(memory, error)
    call h5pclose_f(dxpl, error)
    call h5fclose_f(file, error)
    call check(error, 4)
    call h5close_f(error)
    call MPI_Finalize(mpierror)

contains

    subroutine check(code, step)
        integer, intent(in) :: code, step
        integer :: ended
        if (code < 0) then
            print *, "rank", rank, "failed at step", step
            call MPI_Abort(MPI_COMM_WORLD, step, ended)
        end if
    end subroutine check
end program ranks
