# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Recorded machines, from tests/data/devices: docs/devices.md says how they are
# made.

# make_tree FILE DIR
make_tree() {
	bash "${BASH_SOURCE[0]%/*}/../../contrib/examples/record-machine" \
		--unpack "$2" <"$1"
}
