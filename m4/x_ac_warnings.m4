# SYNOPSIS: X_AC_WARNINGS
# DESCRIPTION: sets TIDE_CFLAGS: C11 and the warnings we keep clean;
#   --enable-werror makes them errors (what CI does).
AC_DEFUN([X_AC_WARNINGS], [
	AC_ARG_ENABLE([werror],
		[AS_HELP_STRING([--enable-werror], [warnings are errors])],
		[], [enable_werror=no])
	TIDE_CFLAGS="-std=gnu11 -Wall -Wextra -Wstrict-prototypes"
	TIDE_CFLAGS="$TIDE_CFLAGS -Wmissing-prototypes -Wvla -Wformat=2"
	TIDE_CFLAGS="$TIDE_CFLAGS -Wno-unused-parameter"
	AS_IF([test "x$enable_werror" = xyes],
		[TIDE_CFLAGS="$TIDE_CFLAGS -Werror"])
	AC_SUBST([TIDE_CFLAGS])
])
