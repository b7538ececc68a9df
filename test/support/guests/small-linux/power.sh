#!/bin/sh
# Called by acpid when the power button is pressed. A test makes the guest ignore it: touch /tmp/ignore-power-button
echo GUEST:POWERBUTTON >/dev/console
[ -e /tmp/ignore-power-button ] || poweroff -f
