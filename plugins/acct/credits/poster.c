/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The poster thread.  What is charged is found in charger.c, which limit is
 * right is decided in common/credit; here is when.
 */
#include "compat/plugin.h"

#include "plugins/acct/credits/poster.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "src/common/read_config.h"
#include "src/slurmdbd/read_config.h"

#include "compat/storage.h"
#include "common/conf/conf.h"
#include "common/credit/charge.h"
#include "common/credit/from_conf.h"
#include "plugins/acct/credits/charger.h"
#include "plugins/acct/credits/hints.h"
#include "plugins/acct/credits/lease.h"
#include "plugins/acct/credits/ledger.h"
#include "plugins/acct/credits/limits.h"
#include "plugins/acct/credits/rates.h"

/* slurmdbd's own; weak, as the plugin may be opened by a test. */
extern bool have_control;
extern char *acct_get_db_name(void);
#pragma weak have_control

#define SHARE 10	 /* one part in so many of the time is ours */
#define MAX_YIELD_MS 500 /* ... but no longer pause than this */
#define WAKE_MS 300	 /* from a completion to its commit, mostly */
#define PAUSE_MS 1000	 /* between the starts of two passes */
#define IDLE_S 5	 /* tide.conf is looked at so often */
#define MAX_BACKOFF_S 30 /* between attempts to reach the database */
#define REPEAT_S 300	 /* the same complaint is logged so often */
#define IN_USE_S 10	 /* between attempts to remove a QOS that jobs have */
#define LIMIT_SLACK 600	 /* billing-minutes: a hundredth of a credit */

static struct {
	pthread_mutex_t lock; /* of this struct, held for moments only */
	pthread_cond_t wake;  /* the thread has something to do */
	pthread_cond_t done;  /* a pass has ended */
	pthread_t thread;
	bool running;
	bool stop;
	bool poked;	 /* a pass is wanted now */
	bool everything; /* ... through all of the job table */
	bool reload;
	bool forget;	/* the marks */
	uint64_t begun; /* passes */
	uint64_t ended;
	bool good; /* the last one did all it had to */
} poster = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The thread's own; nobody else touches it. */
static struct {
	struct tide_db *db;
	struct tide_rates *rates;
	struct tide_charger charger;
	struct tide_lease lease;
	bool tables;	  /* they are there */
	bool charging;	  /* the tide.conf that is there is good */
	struct stat conf; /* of tide.conf as it was read */
	bool conf_read;
	int64_t limits_head; /* transactions whose limits were looked at */
	bool retry_all;	     /* something failed: look at everything again */
	bool ensure_qos;     /* look whether each account has its QOS */
	int64_t remove_at;   /* try again to remove a QOS; 0: there is none */
	int backoff;
	char complaint[640];
	int64_t complained;
} own;

static int64_t now_s(void)
{
	return (int64_t)time(NULL);
}

/* Logged once, and again when it changes or after a while. */
static void complain(const char *what, const struct tide_err *err)
{
	char text[sizeof(own.complaint)];

	snprintf(text, sizeof(text), "%s: %s", what, err->text);
	if (!strcmp(text, own.complaint) && now_s() < own.complained + REPEAT_S)
		return;
	memcpy(own.complaint, text, sizeof(own.complaint));
	own.complained = now_s();
	error("credits: %s", text);
}

static void content(void)
{
	if (*own.complaint)
		info("credits: all is well again");
	*own.complaint = '\0';
}

struct tide_db *tide_poster_db(void)
{
	char *database = acct_get_db_name();
	struct tide_db_where where = {
		.host = slurm_conf.accounting_storage_host,
		.host2 = slurm_conf.accounting_storage_backup_host,
		.port = slurm_conf.accounting_storage_port,
		.user = tide_storage_user(),
		.password = slurm_conf.accounting_storage_pass,
		.script = tide_storage_script(),
		.ask = tide_storage_password,
		.database = database,
		.options = slurm_conf.accounting_storage_params,
	};
	struct tide_db *db = tide_db_create(&where);

	xfree(database);
	return db;
}

static int hold_lease(bool *ret_mine, struct tide_err *err)
{
	bool had = own.lease.renewed;

	if (tide_lease_hold(&own.lease, own.db, now_s(), ret_mine, err))
		return -1;
	if (*ret_mine && !had) {
		info("credits: posting to the ledger as %s", own.lease.holder);
		own.retry_all = true;
		/* Another holder may have had another tide.conf. */
		own.conf_read = false;
	} else if (!*ret_mine) {
		debug("credits: %s is posting to the ledger", own.lease.other);
	}
	return 0;
}

/* ---- tide.conf ---- */

static int read_conf(const char *path, struct tide_err *err)
{
	struct tide_prices *prices = NULL;
	struct tide_conf *conf = NULL;
	int rc = -1, saved;

	if (tide_conf_load(path, NULL, &conf, NULL, err)) {
		if (errno == ENOENT)
			tide_err_set(err, ENOENT, "there is no %s", path);
		goto out;
	}
	if (tide_prices_from_conf(conf, &prices, err)) {
		tide_err_prefix(err, "%s", path);
		goto out;
	}
	rc = tide_rates_set(own.rates, own.db, own.lease.holder, prices,
			    conf->text, now_s(), err);
	if (!rc) {
		info("credits: new prices from %s are valid", path);
		/* What the old ones passed over may be of the pool now. */
		tide_charger_forget(&own.charger);
		own.retry_all = true;
	}
out:
	saved = errno;
	tide_prices_destroy(prices);
	tide_conf_destroy(conf);
	errno = saved;
	return rc < 0 ? -1 : 0;
}

static bool conf_changed(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		memset(&st, 0, sizeof(st));
	if (own.conf_read && st.st_mtim.tv_sec == own.conf.st_mtim.tv_sec &&
	    st.st_mtim.tv_nsec == own.conf.st_mtim.tv_nsec &&
	    st.st_size == own.conf.st_size && st.st_ino == own.conf.st_ino)
		return false;
	own.conf = st;
	own.conf_read = true;
	return true;
}

/* A bad tide.conf stops charging; what is missed is charged when it is mended.
 */
static int follow_conf(bool reload, struct tide_err *err)
{
	char *path = get_extra_conf_path("tide.conf");
	bool was = own.charging;
	int rc = 0;

	if (conf_changed(path) || reload) {
		own.charging = !read_conf(path, err);
		if (!own.charging && (errno == ENOTCONN || errno == EAGAIN ||
				      errno == EPERM || errno == EIO)) {
			own.conf_read = false;
			rc = -1;
		} else if (!own.charging) {
			/* The file cannot help that it was not read. */
			own.conf_read = errno == EINVAL || errno == ENOENT;
			complain("charging stops", err);
		} else if (!was) {
			own.retry_all = true;
			content();
		}
	}
	xfree(path);
	return rc;
}

static struct timespec after_ms(int64_t ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_sec += ms / 1000;
	ts.tv_nsec += ms % 1000 * 1000000;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_sec++;
		ts.tv_nsec -= 1000000000;
	}
	return ts;
}

static bool later(struct timespec a, struct timespec b)
{
	return a.tv_sec > b.tv_sec ||
	       (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

/*
 * Between pages: the database is Slurm's first.  When somebody waits for us,
 * or we are to stop, there is no pause.
 */
static void yield_after(int64_t ms)
{
	struct timespec until;

	ms *= SHARE - 1;
	until = after_ms(ms < MAX_YIELD_MS ? ms : MAX_YIELD_MS);
	slurm_mutex_lock(&poster.lock);
	while (!poster.stop && !poster.poked && later(until, after_ms(0)))
		pthread_cond_timedwait(&poster.wake, &poster.lock, &until);
	slurm_mutex_unlock(&poster.lock);
}

/* ---- limits ---- */

static int give_limit(const char *account, int64_t balance, int64_t billing,
		      const char *given, struct tide_err *err)
{
	int64_t minutes, old = tide_rows_int(given);

	if (tide_limit_minutes(balance, billing, &minutes, err))
		return -1;
	if (!given || own.ensure_qos) {
		/* What Slurm has counts, not what it was given. */
		if (tide_limits_ensure(own.db, account, &old, err))
			return -1;
		if (old < 0)
			given = NULL;
	}
	if (given && minutes - old < LIMIT_SLACK && old - minutes < LIMIT_SLACK)
		return 0;
	/* In this order: when we die in between, it is done again. */
	if (tide_limits_set(account, minutes, err))
		return -1;
	info("credits: account %s may use %" PRId64 " billing-minutes in all",
	     account, minutes);
	return tide_db_exec(
		own.db, err,
		"update tide_account set limit_minutes=?d where account=?s and balance=?d",
		minutes, account, balance);
}

/* Accounts that no longer pay have no QOS; also when we died in between. */
static int take_limits(struct tide_err *err)
{
	bool in_use = false;
	struct tide_rows *rows;
	char **row;
	int rc = 0;

	if (tide_db_query(
		    own.db, &rows, err,
		    "select distinct t.detail from tide_txn t where t.kind='detach' and not exists (select 1 from tide_account a where a.account=t.detail)"))
		return -1;
	while (rc >= 0 && (row = tide_rows_next(rows))) {
		rc = tide_limits_remove(own.db, row[0], err);
		if (!rc)
			info("credits: account %s pays no more, its QOS is removed",
			     row[0]);
		else if (rc == 2 && !own.remove_at)
			info("credits: account %s pays no more, its QOS is removed when no job has it",
			     row[0]);
		in_use |= rc == 2;
	}
	tide_rows_free(rows);
	own.remove_at = in_use ? now_s() + IN_USE_S : 0;
	return rc < 0 ? -1 : 0;
}

static int give_limits(struct tide_err *err)
{
	struct tide_rows *rows = NULL;
	int64_t head;
	char **row;
	int rc = 0;

	if (tide_db_number(own.db, &head, err,
			   "select txn from tide_head where one=1"))
		return -1;
	if (head == own.limits_head && !own.ensure_qos &&
	    (!own.remove_at || now_s() < own.remove_at))
		return 0;
	if (tide_db_query(
		    own.db, &rows, err,
		    "select account, balance, billing, limit_minutes from tide_account order by account"))
		return -1;
	while (!rc && (row = tide_rows_next(rows)))
		rc = give_limit(row[0], tide_rows_int(row[1]),
				tide_rows_int(row[2]), row[3], err);
	tide_rows_free(rows);
	if (!rc)
		rc = take_limits(err);
	tide_limits_close();
	if (!rc) {
		own.limits_head = head;
		own.ensure_qos = false;
	}
	return rc;
}

/* ---- passes ---- */

/* What was wanted of this pass. */
static void take_wishes(bool *ret_all, bool *ret_reload, bool *ret_forget)
{
	slurm_mutex_lock(&poster.lock);
	*ret_all = poster.everything;
	*ret_reload = poster.reload;
	poster.everything = false;
	/* Somebody waits for it. */
	if (poster.poked && own.remove_at)
		own.remove_at = now_s();
	poster.poked = false;
	poster.reload = false;
	*ret_forget = poster.forget;
	poster.forget = false;
	poster.begun++;
	slurm_mutex_unlock(&poster.lock);
}

static int do_pass(bool reload, struct tide_err *err)
{
	bool mine;

	if (tide_db_connect(own.db, err) < 0)
		return -1;
	if (!own.tables && tide_ledger_setup(own.db, err) < 0)
		return -1;
	own.tables = true;
	if (hold_lease(&mine, err))
		return -1;
	if (!mine)
		return 0;
	if (tide_rates_load(own.rates, own.db, err) || follow_conf(reload, err))
		return -1;
	if (own.charging) {
		if (tide_charger_run(&own.charger, own.retry_all, err))
			return -1;
		own.retry_all = false;
	}
	return give_limits(err);
}

static void pass_failed(const struct tide_err *err)
{
	if (errno == EPERM)
		tide_lease_drop(&own.lease);
	own.retry_all = true;
	own.backoff = own.backoff ? own.backoff * 2 : 1;
	if (own.backoff > MAX_BACKOFF_S)
		own.backoff = MAX_BACKOFF_S;
	complain("could not post, will try again", err);
	tide_limits_close();
	tide_db_rollback(own.db);
}

static void run_pass(void)
{
	struct tide_err err = {""};
	bool all, reload, forget, good = false;

	take_wishes(&all, &reload, &forget);
	if (forget)
		tide_charger_forget(&own.charger);
	own.retry_all |= all || forget;
	/* Who enrolls an account again misses its QOS. */
	own.ensure_qos |= all || reload || forget;
	if (&have_control && !have_control) {
		tide_lease_drop(&own.lease);
	} else if (do_pass(reload, &err)) {
		pass_failed(&err);
		own.conf_read &= !reload;
	} else {
		if (own.backoff)
			content();
		own.backoff = 0;
		good = own.lease.renewed;
	}
	slurm_mutex_lock(&poster.lock);
	poster.good = good;
	poster.ended = poster.begun;
	slurm_cond_broadcast(&poster.done);
	slurm_mutex_unlock(&poster.lock);
}

/* Until there is something to do; false: to stop. */
static bool wait_for_work(struct timespec not_before)
{
	struct timespec until, early;
	bool go;

	slurm_mutex_lock(&poster.lock);
	if (own.backoff)
		until = after_ms((int64_t)own.backoff * 1000);
	else if (tide_hints_any())
		until = after_ms(2 * PAUSE_MS);
	else
		until = after_ms(IDLE_S * 1000);
	while (!poster.stop && !poster.poked && later(until, after_ms(0))) {
		bool told = tide_hints_any();

		pthread_cond_timedwait(&poster.wake, &poster.lock, &until);
		/* The first completion after a quiet time comes up soon. */
		if (!told && tide_hints_any() && !own.backoff) {
			early = after_ms(WAKE_MS);
			if (later(not_before, early))
				early = not_before;
			if (later(until, early))
				until = early;
		}
	}
	go = !poster.stop;
	slurm_mutex_unlock(&poster.lock);
	return go;
}

static void *poster_main(void *arg)
{
	struct timespec next = after_ms(0);

	(void)arg;
	tide_lease_init(&own.lease, now_s());
	own.db = tide_poster_db();
	own.rates = tide_rates_create();
	own.charger = (struct tide_charger){
		.db = own.db,
		.rates = own.rates,
		.holder = own.lease.holder,
		.complain = complain,
		.yield = yield_after,
	};
	own.retry_all = true;
	own.ensure_qos = true;
	if (!own.db || !own.rates || tide_charger_init(&own.charger)) {
		error("credits: out of memory, nothing will be charged until slurmdbd is restarted");
	} else {
		while (wait_for_work(next)) {
			next = after_ms(PAUSE_MS);
			run_pass();
		}
	}
	tide_limits_close();
	tide_charger_release(&own.charger);
	tide_rates_destroy(own.rates);
	tide_db_destroy(own.db);
	memset(&own, 0, sizeof(own));
	return NULL;
}

/* ---- what other threads call ---- */

int tide_poster_start(void)
{
	pthread_condattr_t attr;
	sigset_t all, old;
	int rc;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&poster.wake, &attr);
	pthread_cond_init(&poster.done, &attr);
	pthread_condattr_destroy(&attr);
	poster.stop = false;
	poster.poked = true;
	/* slurmdbd blocks its signals later than it loads us. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&poster.thread, NULL, poster_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc) {
		errno = rc;
		return -1;
	}
	poster.running = true;
	return 0;
}

void tide_poster_stop(void)
{
	if (!poster.running)
		return;
	slurm_mutex_lock(&poster.lock);
	poster.stop = true;
	slurm_cond_broadcast(&poster.wake);
	/* Who waits for a pass waits no longer. */
	slurm_cond_broadcast(&poster.done);
	slurm_mutex_unlock(&poster.lock);
	pthread_join(poster.thread, NULL);
	poster.running = false;
}

void tide_poster_wake(const char *cluster, uint64_t row)
{
	if (!cluster || !tide_hints_add(cluster, row, now_s()))
		return;
	slurm_mutex_lock(&poster.lock);
	slurm_cond_signal(&poster.wake);
	slurm_mutex_unlock(&poster.lock);
}

void tide_poster_reload(void)
{
	slurm_mutex_lock(&poster.lock);
	poster.reload = true;
	poster.poked = true;
	slurm_cond_signal(&poster.wake);
	slurm_mutex_unlock(&poster.lock);
}

void tide_poster_forget(void)
{
	slurm_mutex_lock(&poster.lock);
	poster.forget = true;
	slurm_mutex_unlock(&poster.lock);
}

bool tide_poster_catch_up(bool everything, int seconds)
{
	struct timespec until = after_ms((int64_t)seconds * 1000);
	uint64_t want;
	int rc = 0, old;
	bool good;

	/* slurmdbd cancels its rollup thread where it stands. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	slurm_mutex_lock(&poster.lock);
	poster.poked = true;
	poster.everything |= everything;
	slurm_cond_signal(&poster.wake);
	/* A pass that begins from now on. */
	want = poster.begun + 1;
	while (!rc && poster.ended < want && poster.running && !poster.stop)
		rc = pthread_cond_timedwait(&poster.done, &poster.lock, &until);
	good = poster.ended >= want && poster.good;
	slurm_mutex_unlock(&poster.lock);
	pthread_setcancelstate(old, NULL);
	return good;
}
