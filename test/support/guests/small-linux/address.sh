#!/bin/sh
# Called by udhcpc when the address of a card changes.
case $1 in
deconfig)
  ip addr flush dev "$interface"
  ;;
bound | renew)
  ip addr replace "$ip/${mask:-24}" dev "$interface"
  # Cards with later numbers are asked last.
  [ -z "$router" ] || ip route replace default via "${router%% *}" dev "$interface" metric "$((100 + ${interface#eth}))"
  for server in $dns; do echo "nameserver $server"; done >/etc/resolv.conf
  [ "$1" = renew ] || echo "GUEST:IP $interface $ip" >/dev/console
  ;;
esac
