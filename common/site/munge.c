/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether munged can be reached where we run. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/site/rules.h"

/* The socket of munged, as AuthInfo names it: "socket=PATH,ttl=60". */
static void munge_socket(const struct tide_site *site, struct sockaddr_un *ret)
{
	const char *info = tide_slurm_get(site->slurm, "AuthInfo", NULL);
	const char *path = info ? strstr(info, "socket=") : NULL;

	ret->sun_family = AF_UNIX;
	path = path ? path + strlen("socket=") : "/run/munge/munge.socket.2";
	snprintf(ret->sun_path, sizeof(ret->sun_path), "%.*s",
		 (int)strcspn(path, ", "), path);
}

/* Whoever cannot be asked may be well, and MUNGE here not. */
void tide_site_munge(struct tide_site *site)
{
	const char *type = tide_slurm_get(site->slurm, "AuthType", NULL);
	struct sockaddr_un address = {0};
	int fd;

	/* Slurm has a way of its own since 23.11. */
	if (type && strcasecmp(type, "auth/munge"))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	munge_socket(site, &address);
	if (fd >= 0 &&
	    !connect(fd, (struct sockaddr *)&address, sizeof(address)))
		tide_site_say(site, TIDE_LEVEL_OK, NULL, NULL,
			      "munged is there, at %s", address.sun_path);
	else
		tide_site_say(
			site, TIDE_LEVEL_ERROR, NULL, "systemctl start munge",
			"munged cannot be reached at %s: %s; nothing of Slurm works here without it",
			address.sun_path, strerror(errno));
	if (fd >= 0)
		close(fd);
}
