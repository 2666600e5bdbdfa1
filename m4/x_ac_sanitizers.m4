# SYNOPSIS: X_AC_SANITIZERS
# DESCRIPTION: --enable-sanitizers builds with AddressSanitizer and UBSan, and
#   counts which lines run (gcov), for contrib/coverage.sh.
# NOTES: such a build is for the unit tests; its plugins cannot be opened by
#   daemons that were built without.
AC_DEFUN([X_AC_SANITIZERS], [
	AC_ARG_ENABLE([sanitizers],
		[AS_HELP_STRING([--enable-sanitizers],
			[unit tests under ASan and UBSan])],
		[], [enable_sanitizers=no])
	SANITIZE_CFLAGS=
	x_sanitizers_summary=no
	AS_IF([test "x$enable_sanitizers" = xyes], [
		SANITIZE_CFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer --coverage"
		x_sanitizers_summary="address, undefined"
	])
	AC_SUBST([SANITIZE_CFLAGS])
	AM_CONDITIONAL([SANITIZERS], [test "x$enable_sanitizers" = xyes])
])
