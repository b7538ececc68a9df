import { runNft } from './host-commands.ts'

/** A network among machines, as far as the firewall has to know it. */
interface GuardedNetwork {
  readonly bridge: string
  /** The address of the host on the bridge, where dnsmasq listens. */
  readonly address: string
}

/**
 * Writes the rules that close a network to its host and to the outside: its machines reach addresses (DHCP) and names (DNS) of
 * the host, and one another. The table has the name of the bridge. The first two lines make the script repeatable.
 */
const buildRules = ({ bridge, address }: GuardedNetwork): string => `
table inet ${bridge} {}
delete table inet ${bridge}
table inet ${bridge} {
  chain input {
    type filter hook input priority -10; policy accept;
    iifname "${bridge}" udp dport 67 accept
    iifname "${bridge}" ip daddr ${address} udp dport 53 accept
    iifname "${bridge}" ip daddr ${address} tcp dport 53 accept
    iifname "${bridge}" drop
  }
  chain forward {
    type filter hook forward priority -10; policy accept;
    iifname "${bridge}" oifname "${bridge}" accept
    iifname "${bridge}" drop
    oifname "${bridge}" drop
  }
}
`

/** Closes a network to its host. Repeatable. */
export const guardNetwork = (network: GuardedNetwork): Promise<void> => runNft(buildRules(network))

/** Removes the rules of a network. */
export const removeGuard = (bridge: string): Promise<void> =>
  runNft(`table inet ${bridge} {}\ndelete table inet ${bridge}\n`)
