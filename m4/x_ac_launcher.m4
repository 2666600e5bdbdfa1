# SYNOPSIS: X_AC_LAUNCHER
# DESCRIPTION: what tiderun needs: MPI, HDF5, OpenBLAS, libyaml.  Sets the
#   conditional WITH_LAUNCHER; without them the rest is built all the same.
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
		PKG_CHECK_MODULES([HDF5], [hdf5-serial], [],
			[PKG_CHECK_MODULES([HDF5], [hdf5], [],
				[x_missing="$x_missing HDF5"])])
		PKG_CHECK_MODULES([BLAS], [openblas], [],
			[x_missing="$x_missing OpenBLAS"])
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
])
