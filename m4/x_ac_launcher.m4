# SYNOPSIS: X_AC_LAUNCHER
# DESCRIPTION: what tiderun needs: MPI, HDF5, OpenBLAS, libyaml.  Sets the
#   conditional WITH_LAUNCHER; without them the rest is built all the same.
#   The CPU kernels are built a second time for AVX2 where the compiler can
#   (conditional CPU_AVX2, TIDE_CPU_AVX2 0 or 1); which one runs is found out
#   at start.
AC_DEFUN([X_AC_LAUNCHER], [
	AC_ARG_WITH([launcher],
		[AS_HELP_STRING([--without-launcher], [do not build tiderun])],
		[], [with_launcher=auto])
	x_launcher=no
	x_launcher_summary="no (--without-launcher)"
	AS_IF([test "x$with_launcher" != xno], [
		x_missing=
		PKG_CHECK_MODULES([MPI], [ompi-c], [],
			[PKG_CHECK_MODULES([MPI], [mpi-c], [],
				[x_missing="$x_missing MPI"])])
		PKG_CHECK_MODULES([HDF5], [hdf5-serial >= 1.10.7], [],
			[PKG_CHECK_MODULES([HDF5], [hdf5 >= 1.10.7], [],
				[x_missing="$x_missing HDF5-1.10.7"])])
		PKG_CHECK_MODULES([BLAS], [openblas], [],
			[x_missing="$x_missing OpenBLAS"])
		# A header of OpenBLAS 0.3.34 defines what config.h defines too.
		BLAS_CFLAGS=`AS_ECHO(["$BLAS_CFLAGS"]) | sed 's/-I */-isystem /g'`
		PKG_CHECK_MODULES([YAML], [yaml-0.1], [],
			[x_missing="$x_missing libyaml"])
		AS_IF([test -z "$x_missing"],
			[x_launcher=yes
			 x_launcher_summary=yes],
			[x_launcher_summary="no, missing:$x_missing"])
	])
	AS_IF([test "x$with_launcher" = xyes && test "x$x_launcher" = xno],
		[AC_MSG_ERROR([cannot build tiderun: missing$x_missing])])
	AM_CONDITIONAL([WITH_LAUNCHER], [test "x$x_launcher" = xyes])
	AC_OPENMP
	AC_MSG_CHECKING([whether $CC can build kernels for AVX2])
	x_save_cflags=$CFLAGS
	CFLAGS="$CFLAGS -mavx2 -mfma"
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#ifndef __AVX2__
#error no AVX2
#endif]], [[__builtin_cpu_init();]])], [x_avx2=yes], [x_avx2=no])
	CFLAGS=$x_save_cflags
	AC_MSG_RESULT([$x_avx2])
	AS_IF([test "x$x_avx2" = xyes], [x_avx2_value=1], [x_avx2_value=0])
	AC_DEFINE_UNQUOTED([TIDE_CPU_AVX2], [$x_avx2_value],
		[1 if the CPU kernels are also built for AVX2])
	AM_CONDITIONAL([CPU_AVX2], [test "x$x_avx2" = xyes])
])
