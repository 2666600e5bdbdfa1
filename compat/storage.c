/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The password of the database, told by a script: see storage.h. */
#include "compat/plugin.h"

#include "compat/storage.h"

#include <errno.h>
#include <string.h>

#if TIDE_STORAGE_SCRIPT

#include "src/common/env.h"
#include "src/common/run_command.h"

#define PASSWORD_MARK "TOKEN="
#define SCRIPT_WAIT_MS 10000

/* What is behind the mark, without blanks around it, as Slurm takes it. */
static int find_password(const char *script, const char *said,
			 char **ret_password, struct tide_err *err)
{
	const char *from = said ? strstr(said, PASSWORD_MARK) : NULL;
	size_t len;

	if (!from)
		return tide_err_set(
			err, EIO,
			"StoragePassScript=%s does not say " PASSWORD_MARK,
			script);
	from += strlen(PASSWORD_MARK);
	from += strspn(from, " \t\r\n");
	len = strlen(from);
	while (len && strchr(" \t\r\n", from[len - 1]))
		len--;
	if (!len)
		return tide_err_set(
			err, EIO,
			"StoragePassScript=%s says an empty " PASSWORD_MARK,
			script);
	*ret_password = strndup(from, len);
	if (!*ret_password)
		return tide_err_set(err, ENOMEM, "out of memory");
	return 0;
}

int tide_storage_password(const char *script, const char *host,
			  unsigned int port, const char *user,
			  char **ret_password, struct tide_err *err)
{
	char *argv[] = {(char *)script, NULL};
	char **env = env_array_create();
	bool timed_out = false;
	int status = 0, rc;
	run_command_args_t run = {
		.max_wait = SCRIPT_WAIT_MS,
		.script_argv = argv,
		.script_path = script,
		.script_type = "StoragePassScript",
		.status = &status,
		.timed_out = &timed_out,
	};
	char *said;

	env_array_append(&env, "SLURM_STORAGE_HOSTNAME", host ? host : "");
	env_array_append(&env, "SLURM_STORAGE_USER", user ? user : "");
	env_array_append_fmt(&env, "SLURM_STORAGE_PORT", "%u", port);
	run.env = env;
	said = run_command(&run);
	if (timed_out)
		rc = tide_err_set(
			err, ETIMEDOUT,
			"StoragePassScript=%s did not end in %d seconds",
			script, SCRIPT_WAIT_MS / 1000);
	else if (status)
		rc = tide_err_set(
			err, EIO,
			"StoragePassScript=%s failed (wait status %d)", script,
			status);
	else
		rc = find_password(script, said, ret_password, err);
	xfree(said);
	env_array_free(env);
	return rc;
}

#else

int tide_storage_password(const char *script, const char *host,
			  unsigned int port, const char *user,
			  char **ret_password, struct tide_err *err)
{
	(void)host;
	(void)port;
	(void)user;
	(void)ret_password;
	return tide_err_set(err, ENOTSUP,
			    "StoragePassScript=%s: this Slurm runs no script",
			    script);
}

#endif
