#!/bin/sh
# Called by the guest agent.
sync
case "$*" in
*-r*) exec reboot -f ;;
*) exec poweroff -f ;;
esac
