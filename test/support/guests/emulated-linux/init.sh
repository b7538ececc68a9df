#!/bin/sh
# The first process of the emulated Linux. GUEST:READY means that the machine is up; a shell on the serial line follows.
export PATH=/bin:/sbin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
while read -r module; do insmod "/lib/modules/$module.ko"; done </lib/modules/order

hostname emulated-linux
qemu-ga -d -m isa-serial -p /dev/ttyS1 -t /run -l /tmp/agent.log && echo GUEST:AGENT >/dev/console

read -r uptime _ </proc/uptime
echo "GUEST:READY $uptime" >/dev/console
while :; do
  setsid -c sh -c 'stty -echo; PS1= exec sh' <>/dev/ttyS0 >&0 2>&1
  sleep 1
done
