import { joinWords } from '#lib/join-words.ts'
import { canAdministerNetwork } from '#lib/hypervisor/qemu/network/host-commands.ts'
import { findProgram } from '#lib/hypervisor/qemu/programs.ts'
import { createOk, createProblem, createWarning, type Finding } from '../finding.ts'
import type { Surroundings } from '../surroundings.ts'

/** Checks that machines with the network `nat` reach the network of the host. */
export const checkPasst = async ({ settings, needs, installPackage }: Surroundings): Promise<Finding> => {
  if (settings.driver === 'embedded') return createOk('The embedded driver does not use it.')
  const program = await findProgram('passt')
  if (program !== undefined) return createOk(`passt (${program})`)
  const remedy = installPackage('passt')
  return needs.networks.has('nat')
    ? createProblem('passt is not installed, and machines here have the network nat: they do not start.', remedy)
    : createWarning('passt is not installed, so no machine can have the network nat.', remedy)
}

/** The programs that bridges and networks of the host need, and the packages that they are in. */
const tools = [
  ['ip', 'iproute2', ['bridge', 'network']],
  ['dnsmasq', 'dnsmasq', ['network']],
  ['nft', 'nftables', ['network']],
] as const

/** Where systemd reads what is added to the unit. */
const dropIns = '/etc/systemd/system/vmhost.service.d'

/** Checks that machines on bridges and on networks of the host find what those need. */
export const checkHostNetworks = async ({ needs, service, installPackage }: Surroundings): Promise<Finding> => {
  const kinds = ['bridge', 'network'].filter(kind => needs.networks.has(kind))
  if (kinds.length === 0) return createOk('No machine is on a bridge or on a network of the host.')
  const missing: (typeof tools)[number][] = []
  for (const tool of tools)
    if (tool[2].some(kind => kinds.includes(kind)) && (await findProgram(tool[0])) === undefined) missing.push(tool)
  if (missing.length > 0) {
    const programs = joinWords(
      missing.map(([program]) => program),
      'and',
    )
    return createProblem(
      `Machines are on a bridge or a network of the host, and ${programs} ${missing.length === 1 ? 'is' : 'are'} not installed.`,
      missing.map(([, name]) => installPackage(name)).join(' && '),
    )
  }
  // A running service has made its networks, or has said in its log why it could not.
  if (service.kind !== 'running' && !(await canAdministerNetwork()))
    return createWarning(
      'Machines are on a bridge or a network of the host. The service needs the capability CAP_NET_ADMIN for them, which this command does not have.',
      `mkdir -p ${dropIns} && printf '[Service]\\nAmbientCapabilities=CAP_NET_ADMIN CAP_NET_RAW CAP_NET_BIND_SERVICE\\n' > ${dropIns}/networks.conf && systemctl daemon-reload && systemctl restart vmhost`,
    )
  return createOk('What bridges and networks of the host need is installed.')
}
