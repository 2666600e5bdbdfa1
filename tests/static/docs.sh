#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The pages: links lead somewhere, docs/README.md and Makefile.am know every
# page, messages that are quoted are in the sources, commands are there, manual
# pages that are named are there, clean and complete, and a Chinese page has the
# code of the English.
#
# A message is quoted in a block fenced with ```log, a line each, with <words>
# where the sources have %s.
cd "$(dirname "$0")/../.." || exit 1
export LC_ALL=C.UTF-8
bad=0

complain()
{
	bad=1
	echo "$*"
}

# A tarball has no index: then every file counts.
list()
{
	git ls-files -co --exclude-standard -- "$@" 2>/dev/null || find . -path "./${1//\*/*}" |
		sed 's|^\./||'
}

# The headings of a page as the anchors that links name.
anchors()
{
	awk '/^```/ { code = !code } !code && /^#/' "$1" |
		sed -E 's/^#+ +//; s/[`*]//g' | tr '[:upper:]' '[:lower:]' |
		sed -E 's/[^[:alnum:] _-]//g; s/ /-/g'
}

check_links()
{
	local page=$1 link file anchor

	while read -r link; do
		case $link in
		http:* | https:* | mailto:*) continue ;;
		esac
		file=${link%%#*} anchor=
		[ "$link" = "$file" ] || anchor=${link#*#}
		[ -n "$file" ] || file=${page##*/}
		file=$(dirname "$page")/$file
		if [ ! -e "$file" ]; then
			complain "$page: dead link to '$link'"
		elif [ -n "$anchor" ] &&
		   ! anchors "$file" | grep -qxF -- "$anchor"; then
			complain "$page: '$link' has no such heading"
		fi
	done < <(grep -oE '\]\([^) ]+\)' "$page" | sed 's/^](//; s/)$//')
}

# The blocks of a page fenced with that word, without the fences.
fenced()
{
	awk -v word="$1" '
		/^```/ { inside = !inside && $0 == "```" word; next }
		inside' "$2"
}

# Strings in parts, as PRId64 makes them, are put together.
sources=$(list '*.c' '*.h' '*.am' '*.sh' 'm4/*.m4' configure.ac |
	grep -vE '(^|/)test/|^tests/' | xargs cat |
	perl -0pe 's/"\s*(PRI\w+)?\s*"//g')

# A line as it would be printed, the %s in <>: is it, or what follows a prefix
# such as "error: tide: ", in the sources?
said()
{
	local text=$1 fixed regex

	# What %s alone makes of an end proves nothing.
	text=$(sed -E 's/([^[:alnum:]]*<[^>]*>[^[:alnum:]]*)+$//' <<<"$text")
	while :; do
		fixed=$(sed -E 's/<[^>]*>//g; s/[^[:alnum:]]//g' <<<"$text")
		[ ${#fixed} -ge 8 ] || return 1
		regex=$(sed -E 's/[][\.*^$+?(){}|]/\\&/g; s/<[^>]*>/.*/g' \
			<<<"$text")
		! grep -qE -- "$regex" <<<"$sources" || return 0
		[[ $text == *": "* ]] || return 1
		text=${text#*: }
	done
}

# Code that a translation keeps: fenced blocks, and indented ones.
code_of()
{
	awk '/^```/ { inside = !inside; print; next } inside || /^    /' "$1"
}

mapfile -t pages < <(list '*.md')
for page in "${pages[@]}"; do
	check_links "$page"
	while read -r line; do
		[ -z "$line" ] || said "$line" ||
			complain "$page: no source says '$line'"
	done < <(fenced log "$page")
	while read -r name; do
		[ -f "man/$name.1" ] || [ -f "man/$name.5.in" ] ||
			[ -f "man/$name.8" ] ||
			complain "$page: there is no manual page '$name'"
	done < <(grep -ohE '`man tide[a-z.-]*`' "$page" | tr -d '`' |
		cut -d' ' -f2)
	english=${page%.zh.md}.md
	if [[ $page == *.zh.md ]]; then
		diff <(code_of "$english") <(code_of "$page") ||
			complain "$page: its code is not that of $english"
	fi
done

# Tests that a page names, as `FILE`: step, ended by <br> or the cell.
while IFS=$'\t' read -r page file step; do
	grep -qsF -- "$step" "$file" ||
		complain "$page: $file has no '$step'"
done < <(grep -oHE '`[a-z][a-z/_0-9.-]*\.[ct]`: [^|<]*' docs/*.md |
	sed -E 's/^([^:]*):`([^`]*)`: (.*[^ ]) *$/\1\t\2\t\3/')

for page in $(list 'docs/*.md'); do
	grep -qxF "	$page \\" Makefile.am ||
		complain "$page: not in Makefile.am"
	[ "$page" = docs/README.md ] || grep -qF "](${page#docs/})" docs/README.md ||
		complain "$page: not in docs/README.md"
done

for page in man/*.[158] man/*.[158].in; do
	grep -qF "${page#man/}" man/Makefile.am ||
		complain "$page: not in man/Makefile.am"
	if command -v groff >/dev/null; then
		found=$(groff -man -ww -z -Tutf8 "$page" 2>&1)
		[ -z "$found" ] || complain "$found"
	fi
done
# has PAGE WORD...: the manual page has each word.
has()
{
	local page=$1 text word

	text=$(sed 's/\\-/-/g' "man/$page")
	shift
	for word; do
		grep -qE -- "(^|[^a-z-])$word([^a-z-]|$)" <<<"$text" ||
			complain "man/$page: it does not have '$word'"
	done
}

options='s/.*[{]"([a-z-]+)", (no|required|optional)_argument.*/--\1/p'
commands='s/.*(\.name = |[{])"([a-z]+)"(,$|, credits_.*|, cmd_.*)/\2/p'
mapfile -t words < <(sed -nE "$options; $commands" cmd/tidectl/*.c)
has tidectl.1 "${words[@]}"
# Commands that pages tell people to type.
while read -r word; do
	printf '%s\n' "${words[@]}" | grep -qxF -- "$word" ||
		complain "tidectl knows no '$word', which a page has"
done < <(grep -ohE '(`|^    )tidectl [a-z]+( [a-z]+)?' "${pages[@]}" |
	sed -E 's/.*tidectl //' | tr ' ' '\n' | sort -u)
mapfile -t words < <(sed -nE "$options; $commands" launcher/*.c)
has tiderun.1 "${words[@]}"

for plugin in plugins/*/*/Makefile.am; do
	so=$(sed -n 's/^\(accounting\|gres\|job\|select\)\(_[a-z_]*\)_la_SOURCES.*/\1\2.so/p' "$plugin")
	for name in $so; do
		grep -qF "$name" man/*.8 ||
			complain "$plugin: no manual page speaks of $name"
	done
done

exit $bad
