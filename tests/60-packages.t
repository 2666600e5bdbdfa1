#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Packages: built from the tarball, installed, used, held against a Slurm that
# is upgraded underneath, upgraded with it and purged, in an overlay over this
# machine. The next Slurm is synthetic: packages with nothing in them but what
# the packaging tools look at.
#
# One release: the packages are those of this Debian.
# Busy: they are built.

test_description='packages come, keep Slurm where it is, and go'
# shellcheck source=tests/lib/credits.sh
. "$(dirname "$0")/lib/cluster.sh"
. "$TIDE_TOP/tests/lib/credits.sh"
. "$TIDE_TOP/tests/lib/sandbox.sh"

lacks=$(sandbox_lacks)
[ -z "$lacks" ] || { skip_all=$lacks; test_done; }
for program in dpkg-buildpackage dpkg-scanpackages dh; do
	skip_unless "there is no $program" which $program
done
skip_unless 'the plugins are not built' \
	test -e "$builddir/plugins/gres/mlu/.libs/gres_mlu.so"
stock=$(sed -n 's/^#define TIDE_SLURM_PLUGINDIR "\(.*\)"/\1/p' \
	"$builddir/config.h")
owner=$(dpkg-query -S "$stock/select_cons_tres.so" 2>/dev/null |
	sed -n '1s/[:,].*//p')
[ -n "$owner" ] || { skip_all='Slurm is not installed by dpkg'; test_done; }
full=$(dpkg-query -W -f '${Version}' "$owner")
upstream=${full%%-*}
next=${upstream%.*}.$((${upstream##*.} + 1))-1
later=${upstream%.*}.$((${upstream##*.} + 2))-1
version=$(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"/\1/p' \
	"$builddir/config.h")
folder=/usr/lib/tideflow/plugins
packages=$builddir/packages
which lintian >/dev/null && test_set_prereq LINTIAN
which rpmbuild >/dev/null && test_set_prereq RPM
which rpmlint >/dev/null && test_set_prereq RPMLINT
git -C "$TIDE_TOP" rev-parse >/dev/null 2>&1 && test_set_prereq GIT

# deb_field PACKAGE FIELD: of what was built.
deb_field() {
	dpkg-deb -f "$packages/$1"_*.deb "$2"
}

# installed PACKAGE: its version in the sandbox; nothing when it is not there.
installed() {
	inside dpkg-query -W -f '${db:Status-Status} ${Version}' "$1" \
		2>/dev/null | sed -n 's/^installed //p'
}

# all_whole: no package of ours or of Slurm was left half done.
all_whole() {
	! inside dpkg --audit | grep -E "tide|slurm"
}

# Slurm's own scripts may have asked for something.
nothing_started() {
	! grep -s tide started
}

# Debian's package tools in the sandbox, which know our repository alone.
apt() {
	inside env DEBIAN_FRONTEND=noninteractive \
		PATH="$PWD/tools:$PATH" POLICY_LOG="$PWD/started" \
		apt-get -y -o Dir::Etc::sourcelist="$PWD/repo.list" \
		-o Dir::Etc::sourceparts=- -o Dir::State::lists="$PWD/lists" \
		-o APT::Sandbox::User=root "$@"
}

repo_add() {
	mkdir -p repo lists/partial &&
	cp "$@" repo/ &&
	(cd repo && dpkg-scanpackages -m . >Packages 2>/dev/null) &&
	echo "deb [trusted=yes] file:$PWD/repo ./" >repo.list &&
	apt -qq update
}

# empty_slurm VERSION: in a folder of that name, packages with nothing in them
# for all that this machine has from Slurm's source. The one that the others
# depend on is like a daemon that is restarted: it tells which of our plugins it
# would find.
empty_slurm() {
	local package source dir

	source=$(dpkg-query -W -f '${source:Package}' "$owner")
	for package in $(dpkg-query -W -f \
		'${db:Status-Status} ${source:Package} ${Package}\n' |
		awk -v s="$source" '$1 == "installed" && $2 == s {print $3}'); do
		dir=$1/$package
		mkdir -p "$dir/DEBIAN" "$dir/usr/share/doc/$package" &&
		echo "$1" >"$dir/usr/share/doc/$package/next" &&
		dpkg-query -W -f 'Package: ${Package}
Version: ${Version}
Architecture: ${Architecture}
Maintainer: ${Maintainer}
Depends: ${Depends}
Description: synthetic
' "$package" | sed "s/$full/$1/g; /^Depends: *$/d" >"$dir/DEBIAN/control" &&
		cat >"$dir/DEBIAN/postinst" <<-SCRIPT &&
		#!/bin/sh
		[ $package != $owner ] || cat $folder/built-for >$PWD/found 2>&1
		exit 0
		SCRIPT
		chmod 755 "$dir/DEBIAN/postinst" &&
		dpkg-deb -Zgzip -b "$dir" "$1" >/dev/null || return 1
	done
}

# plugins_for VERSION: in the folder VERSION/ours, our packages as they would
# be built for that Slurm.
plugins_for() {
	local package

	mkdir -p "$1/ours"
	for package in tideflow-plugins tidectl; do
		dpkg-deb -R "$packages/$package"_*.deb "$1/ours/$package" &&
		sed -i "s/$full/$1/g" "$1/ours/$package/DEBIAN/control" ||
			return 1
	done
	echo "$1" >"$1/ours/tideflow-plugins$folder/built-for" &&
	for package in tideflow-plugins tidectl; do
		dpkg-deb -Zgzip -b "$1/ours/$package" "$1/ours" >/dev/null ||
			return 1
	done
}

# Whoever is asked to start, stop or restart something writes it down.
mkdir tools
for tool in systemctl service invoke-rc.d update-rc.d; do
	printf '#!/bin/sh\necho "%s $*" >>"$POLICY_LOG"\n' $tool >tools/$tool
	chmod 755 tools/$tool
done

test_expect_success GIT 'the tarball has every file of the tree' '
	make -s -C "$builddir" dist >/dev/null 2>&1 &&
	tar -tf "$builddir/tideflow-$version.tar.gz" |
		sed "s|^[^/]*/||" | sort >tarball &&
	git -C "$TIDE_TOP" ls-files | grep -vxE ".ci/run|.gitignore" |
		sort >tree &&
	comm -13 tarball tree >missing &&
	{ ! test -s missing || { cat missing; false; }; }
'

test_expect_success 'make deb builds the packages from the tarball' '
	DEB_BUILD_OPTIONS=nocheck make -s -C "$builddir" deb >deb.log 2>&1 ||
		{ tail -n 60 deb.log; false; }
'

test_expect_success 'the plugins carry the version of Slurm and want that one' '
	test "$(deb_field tideflow-plugins Version)" = "$version+slurm$full" &&
	deb_field tideflow-plugins Depends | grep -F "$owner (= $full)" &&
	deb_field tideflow-plugins Breaks >breaks &&
	grep -F "$owner (<< $full)" breaks &&
	grep -F "$owner (>> $full)" breaks &&
	test "$(deb_field tideflow-common Version)" = "$version" &&
	test "$(deb_field tiderun Version)" = "$version" &&
	! deb_field tiderun Depends | grep slurm
'

test_expect_success 'plugins bind functions when they are called' '
	dpkg-deb -x "$packages"/tideflow-plugins_*.deb plugins &&
	test "$(ls plugins$folder/*.so | wc -l)" -ge 4 &&
	for so in plugins$folder/*.so; do
		readelf -d "$so" >dynamic || return 1
		! grep -E "BIND_NOW|Flags:.*NOW" dynamic || return 1
	done
'

test_expect_success LINTIAN 'lintian finds nothing' '
	lintian --allow-root --fail-on error,warning \
		"$packages"/tideflow_*.changes >lintian.out 2>&1 ||
		{ cat lintian.out; false; }
'

sandbox_start || error 'the sandbox did not start'
repo_add "$packages"/ti*.deb || error 'no repository'
printf '#!/bin/sh\necho "$*" >>%s\nexit 101\n' "$PWD/started" |
	inside sh -c 'cat >/usr/sbin/policy-rc.d; chmod 755 /usr/sbin/policy-rc.d'
inside mkdir -p /etc/slurm /var/lib/slurm
inside rm -f /etc/slurm/slurm.conf
echo 'last good' | inside tee /var/lib/slurm/tide.conf.good >/dev/null
written >before

# What slurm.conf of a cluster with TideFlow says, as every host has it.
cat >slurm.conf <<CONF
ClusterName=tide
SlurmctldHost=nowhere(127.0.0.1)
SlurmctldPort=1
CommunicationParameters=NoCtldInAddrAny
# PluginDir=/old/tideflow/plugins
PluginDir=$folder:$stock
SelectType=select/cons_tres
JobSubmitPlugins=lua,tide
NodeName=n1
CONF

test_expect_success 'a login host needs the common package, and no more' '
	inside tee /etc/slurm/slurm.conf <slurm.conf >/dev/null &&
	! inside timeout 20 sinfo -o %n 2>without &&
	grep "PluginDir: $folder: No such file or directory" without &&
	apt -qq install tideflow-common &&
	! inside timeout 20 sinfo -o %n 2>with &&
	! grep PluginDir with &&
	inside rm /etc/slurm/slurm.conf
'

test_expect_success 'the packages install' '
	apt install tideflow-plugins tidectl tiderun &&
	test "$(installed tideflow-plugins)" = "$version+slurm$full"
'

test_expect_success 'files are where they belong, with their modes' '
	written >after &&
	comm -13 before after >new &&
	grep -vE "^/usr/share/(doc|man)/" new >got &&
	sort >want <<-LIST &&
	/usr/bin/tidectl f 755
	/usr/bin/tiderun f 755
	/usr/lib/tideflow d 755
	/usr/lib/tideflow/in-use f 755
	/usr/lib/tideflow/tide-devices f 755
	/usr/lib/tideflow/tide-health f 755
	$folder d 755
	$folder/accounting_storage_credits.so f 644
	$folder/gres_accel.so f 644
	$folder/gres_dcu.so f 644
	$folder/gres_mlu.so f 644
	$folder/gres_npu.so f 644
	$folder/job_submit_tide.so f 644
	$folder/select_cons_tres.so f 644
	/usr/share/bash-completion/completions/tidectl f 644
	/usr/share/bash-completion/completions/tiderun f 644
	/usr/share/lintian/overrides/tideflow-plugins f 644
	LIST
	diff -u want got &&
	for page in man1/tidectl.1 man1/tiderun.1 man5/tide.conf.5 \
		man8/tideflow-credits.8 man8/tideflow-gres.8 \
		man8/tideflow-select.8; do
		grep "^/usr/share/man/$page.gz f 644" new || return 1
	done &&
	for page in README.md examples/tide.conf docs/architecture.md; do
		grep "^/usr/share/doc/tideflow-common/$page f 644" new ||
			return 1
	done
'

test_expect_success 'nothing was started, no file of Slurm changed' '
	nothing_started &&
	inside ps -e -o stat=,comm= >running &&
	! grep -vE "^Z|(sleep|ps|nsenter)$" running &&
	comm -13 before after >new &&
	! grep -E "^/(etc|var|run|lib|usr/lib/[^t]|usr/sbin)" new
'

test_expect_success 'examples and pages name the folder of this host' '
	inside grep "^PluginDir=$folder:$stock\$" \
		/usr/share/doc/tideflow-common/examples/slurm.conf.part &&
	inside zgrep "^PluginDir=$folder:" \
		/usr/share/man/man8/tideflow-select.8.gz &&
	inside zgrep "installed in /usr/share/doc/tideflow-common/examples" \
		/usr/share/man/man5/tide.conf.5.gz &&
	! inside zgrep "^[.]TH.*@" /usr/share/man/man5/tide.conf.5.gz
'

test_expect_success 'the commands run, and complete' '
	test "$(inside tidectl --version)" = "tidectl $version for Slurm ${full%%-*}" &&
	test "$(inside tiderun --version)" = "tiderun $version" &&
	cat >complete <<-\SCRIPT &&
	complete_it() {
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		"_$1" && echo "${COMPREPLY[*]}"
	}
	compopt() { :; }
	. /usr/share/bash-completion/completions/tidectl
	. /usr/share/bash-completion/completions/tiderun
	complete_it tidectl wi
	complete_it tidectl credits en
	complete_it tidectl check --conf
	complete_it tiderun train --ra
	SCRIPT
	inside bash "$PWD/complete" >completed &&
	cat >want <<-LIST &&
	windows
	enroll
	--conf-dir
	--ranks=
	LIST
	diff -u want completed
'

write_tide_conf tide.conf
sed -i 's/n\[1-2\]/n1/; /^OwnerAccount=cv/d' tide.conf
cat >story <<SCRIPT
set -ex
type -p tidectl | grep -x /usr/bin/tidectl
tidectl credits enroll vision
tidectl credits grant vision 1000 --note=start
srun -A vision -p pool --gres=mlu:mlu290:1 -t 5 \
	sh -c 'echo "has \$MLU_VISIBLE_DEVICES"; tiderun --version; sleep 2'
for daemon in slurmctld slurmdbd; do
	grep -o "$folder/.*" /proc/\$(cat \$TIDE_CLUSTER_DIR/run/\$daemon.slurm.pid)/maps |
		sort -u
done
for i in \$(seq 60); do
	sacct -n -X -P -o State,SystemComment | grep 'COMPLETED|credits=0' &&
		exit 0
	sleep 0.5
done
exit 1
SCRIPT

test_expect_success 'a cluster runs on the installed plugins' '
	inside env HOME=/root "$TIDE_TOP/tests/cluster" run \
		--build "$PWD/none" --bind "$PWD" --nodes 1 \
		--plugins $folder --gres mlu:mlu290:2 --tide-conf "$PWD/tide.conf" \
		--account vision,nlp,centre,mint \
		--set AccountingStorageEnforce=associations,limits,qos,safe \
		--partition "PartitionName=pool Nodes=n1 Default=YES MaxTime=INFINITE State=UP TRESBillingWeights=GRES/mlu:mlu290=$((RATE * 1000))" \
		--set "PluginDir=$folder:$stock" \
		--slurmdbd-set "PluginDir=$folder:$stock" \
		-- bash "$PWD/story" >story.out 2>&1 || { cat story.out; false; } &&
	grep "^has 0" story.out &&
	grep "^tiderun $version" story.out &&
	for so in select_cons_tres job_submit_tide gres_mlu \
		accounting_storage_credits; do
		grep "^$folder/$so.so" story.out || return 1
	done
'

test_expect_success 'purged, every file is as it was before' '
	inside mkdir -p /var/lib/tideflow &&
	inside touch /var/lib/tideflow/tide-health-n1.seen &&
	apt purge tideflow-plugins tideflow-common tidectl tiderun &&
	! inside test -e /var/lib/tideflow &&
	written >purged &&
	diff -u before purged &&
	nothing_started &&
	apt -qq install tideflow-plugins tidectl tiderun
'

inside tee /etc/slurm/slurm.conf <slurm.conf >/dev/null
echo 'PoolPartition=pool' | inside tee /etc/slurm/tide.conf >/dev/null

test_expect_success 'what Slurm uses is not removed, and it says so' '
	! apt remove tideflow-plugins >out 2>&1 &&
	grep "^  /etc/slurm/slurm.conf:6:PluginDir=$folder" out &&
	grep "^  /etc/slurm/slurm.conf:8:JobSubmitPlugins=lua,tide" out &&
	! grep "slurm.conf:5:" out &&
	grep "It is not removed" out &&
	test "$(installed tideflow-plugins)" = "$version+slurm$full" &&
	! inside dpkg --force-depends --remove tideflow-common >out 2>&1 &&
	grep "tideflow-common: Slurm on this host still uses it" out &&
	grep "^  /etc/slurm/slurm.conf:6:PluginDir=$folder" out &&
	! grep JobSubmitPlugins out &&
	test "$(installed tideflow-common)" = "$version" &&
	inside test -e $folder/select_cons_tres.so &&
	all_whole
'

test_expect_success 'the next Slurm is made' '
	empty_slurm "$next" && plugins_for "$next" && repo_add "$next"/*.deb
'

test_expect_success 'apt upgrade keeps Slurm back while it has no plugins' '
	apt upgrade >out 2>&1 &&
	grep "kept back" out &&
	test "$(installed "$owner")" = "$full" &&
	test "$(installed tideflow-plugins)" = "$version+slurm$full"
'

test_expect_success 'apt full-upgrade leaves a Slurm in use where it is' '
	{ apt dist-upgrade >out 2>&1 || grep "It is not removed" out; } &&
	test "$(installed "$owner")" = "$full" &&
	test "$(installed tideflow-plugins)" = "$version+slurm$full" &&
	all_whole
'

test_expect_success 'so does apt install of the next Slurm' '
	{ apt install "$owner=$next" >out 2>&1 && return 1
	  grep "It is not removed" out; } &&
	test "$(installed "$owner")" = "$full" &&
	all_whole
'

test_expect_success 'with its plugins the next Slurm comes, they first' '
	repo_add "$next"/ours/*.deb &&
	apt dist-upgrade >out 2>&1 || { cat out; return 1; } &&
	test "$(installed "$owner")" = "$next" &&
	test "$(installed tideflow-plugins)" = "$version+slurm$next" &&
	test "$(installed tidectl)" = "$version+slurm$next" &&
	test "$(cat found)" = "$next" &&
	nothing_started
'

test_expect_success 'dpkg alone does not configure another Slurm underneath' '
	empty_slurm "$later" && plugins_for "$later" &&
	rm found &&
	! inside dpkg -i "$PWD/$later"/*.deb >out 2>&1 &&
	grep "tideflow-plugins .* breaks $owner" out &&
	! test -e found
'

test_expect_success 'and the plugins for it mend that' '
	repo_add "$later"/*.deb "$later"/ours/*.deb &&
	apt -f install &&
	test "$(installed "$owner")" = "$later" &&
	test "$(installed tideflow-plugins)" = "$version+slurm$later" &&
	test "$(cat found)" = "$later" &&
	all_whole
'

test_expect_success 'purged after that, nothing of ours is left and no data is gone' '
	inside sed -i "s/^PluginDir/#&/; s/^JobSubmit/#&/" \
		/etc/slurm/slurm.conf &&
	apt purge tideflow-plugins tideflow-common tidectl tiderun &&
	test -z "$(installed tideflow-common)" &&
	written | grep -v "/usr/share/doc/[^ ]*/next " |
		grep -iE "tide" >left;
	test "$(cat left)" = "/etc/slurm/tide.conf f 644
/var/lib/slurm/tide.conf.good f 644" || { cat left; false; } &&
	test "$(inside cat /var/lib/slurm/tide.conf.good)" = "last good" &&
	! inside ls -d /usr/lib/tideflow /usr/share/doc/tide* 2>/dev/null &&
	nothing_started
'

test_expect_success RPM 'the spec makes a source package and wants that Slurm' '
	make -s -C "$builddir" srpm >rpm.log 2>&1 &&
	rpm -qp --qf "%{NAME} %{VERSION}\n" "$packages"/tideflow-*.src.rpm |
		grep -x "tideflow $version" &&
	rpmspec -q --define "slurm_evr $upstream-7" --requires \
		"$builddir/contrib/packaging/tideflow.spec" >requires &&
	grep -E "^slurm\(.*\) = $upstream-7" requires &&
	rpmspec -q --define "slurm_evr $upstream-7" \
		"$builddir/contrib/packaging/tideflow.spec" >names &&
	grep "^tideflow-plugins-$version+slurm$upstream-7\." names
'

test_expect_success RPMLINT 'rpmlint finds no error in the spec' '
	rpmlint "$builddir/contrib/packaging/tideflow.spec" >out 2>&1
	grep " 0 errors" out || { cat out; false; }
'

test_done
