# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Recorded machines, from tests/data/devices: a line a file, "PATH CONTENT" (\n
# is a new line) or "PATH -> TARGET" for a link.

# make_tree FILE DIR
make_tree() {
	local path rest

	mkdir -p "$2"
	while read -r path rest; do
		case $path in '' | '#'*) continue ;; esac
		mkdir -p "$2/${path%/*}"
		case $rest in
		'-> '*) ln -s "${rest#-> }" "$2/$path" ;;
		*) printf '%b\n' "$rest" >"$2/$path" ;;
		esac
	done <"$1"
}
