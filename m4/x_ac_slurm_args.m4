# SYNOPSIS: X_AC_SLURM_ARGS
# DESCRIPTION: sets SLURM_CONFIGURE_ARGS, quoted for a shell: those of our own
#   arguments that are about Slurm, and --without-slurm where no plugins are
#   built.  `make distcheck` and `make deb` configure with them again.
AC_DEFUN([X_AC_SLURM_ARGS], [
	SLURM_CONFIGURE_ARGS=
	AS_IF([test "x$x_slurm" != xyes],
		[SLURM_CONFIGURE_ARGS=--without-slurm],
		[eval "set x $ac_configure_args"
		 shift
		 for x_arg do
			AS_CASE([$x_arg], [*slurm*],
				[SLURM_CONFIGURE_ARGS="$SLURM_CONFIGURE_ARGS '$x_arg'"])
		 done])
	AC_SUBST([SLURM_CONFIGURE_ARGS])
])
