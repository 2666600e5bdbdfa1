# SYNOPSIS: X_AC_SLURM
# DESCRIPTION: finds the installed Slurm (--with-slurm=PREFIX: the one there,
#   not the one in PATH), its plugin folder and a configured source tree of the
#   very same version.  Sets the conditionals WITH_SLURM and SLURM_INSTALLED,
#   SLURM_CPPFLAGS (private headers), SLURM_SOURCE, SLURM_PLUGINDIR,
#   SLURM_VERSION, SLURM_CLIENT_CPPFLAGS and SLURM_CLIENT_LIBS (public
#   libslurm).
# NOTES: Slurm's loader demands the exact micro version, and private records
#   change between patch releases, so installed, source and (if a slurmctld
#   answers) running version must agree: anything else is an error, never a
#   guess.  Without Slurm common/ and launcher/ are built alone.
#   --enable-compile-only is for looking whether the plugins fit a release:
#   everything is compiled and checked against the source alone, and nothing
#   of it can be installed.
#   SLURM_CPPFLAGS puts compat/slurm/config.h in front of our own config.h:
#   members of Slurm's records depend on Slurm's.
AC_DEFUN([X_AC_SLURM], [
	AC_ARG_WITH([slurm],
		[AS_HELP_STRING([--with-slurm=PREFIX],
			[build for the Slurm installed there, e.g. /opt/slurm (default: the one in PATH; --without-slurm: no plugins)])],
		[], [with_slurm=auto])
	AC_ARG_WITH([slurm-source],
		[AS_HELP_STRING([--with-slurm-source=DIR],
			[configured source tree of the installed Slurm])],
		[], [with_slurm_source=])
	AC_ARG_WITH([slurm-plugindir],
		[AS_HELP_STRING([--with-slurm-plugindir=DIR],
			[where Slurm's own plugins are])],
		[], [with_slurm_plugindir=])
	AC_ARG_ENABLE([untested-slurm],
		[AS_HELP_STRING([--enable-untested-slurm],
			[go on with a Slurm release that was never tested])],
		[], [enable_untested_slurm=no])
	AC_ARG_ENABLE([compile-only],
		[AS_HELP_STRING([--enable-compile-only],
			[compile and check the plugins for --with-slurm-source without that Slurm installed; the result cannot be installed])],
		[], [enable_compile_only=no])
	x_slurm=no
	x_slurm_summary="no (--without-slurm)"
	AS_CASE([$with_slurm], [/*], [x_slurm_prefix=$with_slurm],
		[yes|no|auto], [x_slurm_prefix=],
		[AC_MSG_ERROR([--with-slurm=$with_slurm is not an absolute path])])
	AS_IF([test "x$enable_compile_only" = xyes], [
		_X_SLURM_COMPILE_ONLY
		x_slurm=yes
		x_slurm_summary="compiled only, for Slurm $SLURM_VERSION"
	], [test "x$with_slurm" != xno], [
		_X_SLURM_INSTALLED
		AS_IF([test -z "$SLURM_VERSION"], [
			x_slurm_summary="no, Slurm is not installed${x_slurm_prefix:+ in $x_slurm_prefix}"
		], [test -z "$with_slurm_source"], [
			x_slurm_summary="no, --with-slurm-source=DIR is needed for Slurm $SLURM_VERSION"
		], [
			_X_SLURM_SOURCE
			_X_SLURM_AGREE
			_X_SLURM_RUNNING
			_X_SLURM_PLUGINDIR
			_X_SLURM_TESTED
			_X_SLURM_CLIENT
			x_slurm=yes
			x_slurm_summary="yes, for Slurm $SLURM_VERSION"
		])
	])
	AS_IF([test "x$x_slurm" = xno && test "x$with_slurm" != xno && test "x$with_slurm" != xauto],
		[AC_MSG_ERROR([cannot build for Slurm: $x_slurm_summary])])
	SLURM_SOURCE=$with_slurm_source
	SLURM_PLUGINDIR=$with_slurm_plugindir
	SLURM_CPPFLAGS="-iquote \$(top_builddir)/compat/slurm -isystem $SLURM_SOURCE -isystem $SLURM_SOURCE/slurm"
	AC_SUBST([SLURM_VERSION])
	AC_SUBST([SLURM_SOURCE])
	AC_SUBST([SLURM_PLUGINDIR])
	AC_SUBST([SLURM_CPPFLAGS])
	AC_SUBST([SLURM_CLIENT_CPPFLAGS])
	AC_SUBST([SLURM_CLIENT_LIBS])
	AC_DEFINE_UNQUOTED([TIDE_SLURM_PLUGINDIR], ["$SLURM_PLUGINDIR"],
		[folder of Slurm's own plugins])
	AC_DEFINE_UNQUOTED([TIDE_SLURM_VERSION], ["$SLURM_VERSION"],
		[version of Slurm that the plugins are built for])
	AM_CONDITIONAL([WITH_SLURM], [test "x$x_slurm" = xyes])
	AM_CONDITIONAL([SLURM_INSTALLED],
		[test "x$x_slurm" = xyes && test "x$enable_compile_only" != xyes])
	AM_CONDITIONAL([COMPILE_ONLY], [test "x$enable_compile_only" = xyes])
	AS_IF([test "x$x_slurm" = xyes], [x_with_slurm=1], [x_with_slurm=0])
	AC_DEFINE_UNQUOTED([TIDE_WITH_SLURM], [$x_with_slurm],
		[1: commands can talk to a live Slurm])
	PKG_CHECK_MODULES([MARIADB], [libmariadb], [x_mariadb=yes], [x_mariadb=no])
	AS_IF([test "x$x_slurm" = xyes && test "x$x_mariadb" = xno],
		[AC_MSG_ERROR([cannot build the credits plugin: libmariadb is missing (libmariadb-dev)])])
])

AC_DEFUN([_X_SLURM_INSTALLED], [
	AC_MSG_CHECKING([for the installed Slurm])
	SLURM_VERSION=
	x_slurm_path=$PATH:/usr/sbin:/sbin
	test -z "$x_slurm_prefix" || x_slurm_path=$x_slurm_prefix/sbin:$x_slurm_prefix/bin
	for x_prog in slurmctld slurmd slurmdbd sinfo; do
		x_path=`PATH=$x_slurm_path; command -v $x_prog 2>/dev/null` || continue
		SLURM_VERSION=`$x_path -V 2>/dev/null | sed -n 's/^slurm@<:@^ @:>@* //p'`
		test -z "$SLURM_VERSION" || break
	done
	AC_MSG_RESULT([${SLURM_VERSION:-none}])
])

AC_DEFUN([_X_SLURM_SOURCE], [
	AS_CASE(["$with_slurm_source"], [*@<:@@<:@:space:@:>@@:>@*],
		[AC_MSG_ERROR([--with-slurm-source='$with_slurm_source' has a blank in its path, at which make would take it apart])])
	AC_MSG_CHECKING([version of the Slurm source in $with_slurm_source])
	AS_IF([test ! -f "$with_slurm_source/src/common/slurm_xlator.h"], [
		AC_MSG_RESULT([none])
		AC_MSG_ERROR([--with-slurm-source=$with_slurm_source is not a Slurm source tree])
	])
	AS_IF([test ! -f "$with_slurm_source/config.h" || test ! -f "$with_slurm_source/slurm/slurm_version.h"], [
		AC_MSG_RESULT([not configured])
		AC_MSG_ERROR([the Slurm source in $with_slurm_source has no config.h: run ./configure there first])
	])
	x_source_version=`sed -n 's/^#define SLURM_VERSION_STRING "\(.*\)"/\1/p' "$with_slurm_source/config.h"`
	AC_MSG_RESULT([$x_source_version])
])

AC_DEFUN([_X_SLURM_AGREE], [
	AS_IF([test "x$x_source_version" != "x$SLURM_VERSION"],
		[AC_MSG_ERROR([the installed Slurm is $SLURM_VERSION but the source in $with_slurm_source is $x_source_version: they must be the same version])])
])

AC_DEFUN([_X_SLURM_RUNNING], [
	AC_MSG_CHECKING([for a running slurmctld])
	x_running=`PATH=$x_slurm_path:$PATH timeout 5 scontrol show config 2>/dev/null | sed -n 's/^SLURM_VERSION *= *//p'`
	AC_MSG_RESULT([${x_running:-none answers}])
	AS_IF([test -n "$x_running" && test "x$x_running" != "x$SLURM_VERSION"],
		[AC_MSG_ERROR([the installed Slurm is $SLURM_VERSION but the running slurmctld is $x_running: restart it, or build where they agree])])
])

AC_DEFUN([_X_SLURM_PLUGINDIR], [
	AC_MSG_CHECKING([for Slurm's plugin folder])
	AS_IF([test -z "$with_slurm_plugindir"], [
		x_multiarch=`$CC -print-multiarch 2>/dev/null`
		AS_IF([test -n "$x_slurm_prefix"],
			[x_dirs="$x_slurm_prefix/lib/slurm $x_slurm_prefix/lib64/slurm"],
			[x_dirs="/usr/lib/$x_multiarch/slurm-wlm /usr/lib/$x_multiarch/slurm /usr/lib64/slurm /usr/lib/slurm /usr/local/lib/slurm"])
		for x_dir in $x_dirs; do
			AS_IF([test -f "$x_dir/select_cons_tres.so"],
				[with_slurm_plugindir=$x_dir; break])
		done
	])
	AC_MSG_RESULT([${with_slurm_plugindir:-not found}])
	AS_IF([test ! -f "$with_slurm_plugindir/select_cons_tres.so"],
		[AC_MSG_ERROR([there is no select_cons_tres.so in '$with_slurm_plugindir': name the folder with --with-slurm-plugindir=DIR])])
])

AC_DEFUN([_X_SLURM_TESTED], [
	AS_CASE([$SLURM_VERSION],
		[22.05.8|24.11.5|25.11.7|26.05.3], [],
		[AS_IF([test "x$enable_untested_slurm" != xyes],
			[AC_MSG_ERROR([Slurm $SLURM_VERSION was never tested with TideFlow $PACKAGE_VERSION (22.05.8, 24.11.5, 25.11.7 and 26.05.3 were); --enable-untested-slurm goes on all the same])])])
])

# What commands are built with: the installed headers and libslurm.
AC_DEFUN([_X_SLURM_CLIENT], [
	SLURM_CLIENT_CPPFLAGS=
	SLURM_CLIENT_LIBS=-lslurm
	AS_IF([test -n "$x_slurm_prefix"], [
		SLURM_CLIENT_CPPFLAGS="-isystem $x_slurm_prefix/include"
		x_libdir=`dirname "$with_slurm_plugindir"`
		SLURM_CLIENT_LIBS="-L$x_libdir -Wl,-rpath,$x_libdir -lslurm"
	])
])

# There is no libslurm: its functions are left open in what nobody will run.
AC_DEFUN([_X_SLURM_COMPILE_ONLY], [
	AS_IF([test -z "$with_slurm_source"],
		[AC_MSG_ERROR([--enable-compile-only needs --with-slurm-source=DIR])])
	AS_IF([test -n "$x_slurm_prefix" || test -n "$with_slurm_plugindir"],
		[AC_MSG_ERROR([--enable-compile-only looks at the source alone: it goes with neither --with-slurm=PREFIX nor --with-slurm-plugindir])])
	_X_SLURM_SOURCE
	SLURM_VERSION=$x_source_version
	SLURM_CLIENT_CPPFLAGS="-isystem $with_slurm_source"
	SLURM_CLIENT_LIBS="-Wl,--unresolved-symbols=ignore-in-object-files"
])
