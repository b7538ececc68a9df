import type { JSX } from 'preact'
import { Facts } from '../parts/facts.tsx'
import { formatPairs } from '../parts/pairs.ts'
import { formatTime } from '../parts/text.ts'
import type { MachineRow } from '../state/machines.ts'

const listDevices = ({ Hardware }: MachineRow, kind: RegExp): readonly string[] =>
  Object.entries(Hardware)
    .filter(([name, device]) => kind.test(name) && (device as { enabled?: boolean }).enabled)
    .map(([name, device]) => {
      const { size, type, mac, image } = device as Record<string, string | undefined>
      return [name, type, size, mac, image?.split('/').at(-1)].filter(Boolean).join(' · ')
    })

const showLines = (lines: readonly string[]): JSX.Element | undefined =>
  lines.length > 0 ? (
    <>
      {lines.map(line => (
        <div key={line}>{line}</div>
      ))}
    </>
  ) : undefined

/** What a machine is. */
export const MachineFacts = ({ machine }: { readonly machine: MachineRow }): JSX.Element => (
  <Facts
    facts={[
      ['Description', machine.Description],
      ['Address', machine.internal_ip_address],
      ['Host', machine.host],
      ['Processors', machine.Hardware.cpu.cpus],
      ['Memory', machine.Hardware.memory.size.replace('Mb', ' MB')],
      ['Disks', showLines(listDevices(machine, /^hdd/))],
      ['Drives', showLines(listDevices(machine, /^cdrom/))],
      ['Networks', showLines(listDevices(machine, /^net/))],
      ['Labels', formatPairs(machine.labels)],
      ['Deleted at', machine.expires_at && formatTime(machine.expires_at)],
      ['Ephemeral', machine.ephemeral && 'is deleted when it has stopped'],
      ['Restart', machine.restart],
      ['Id', <code>{machine.ID}</code>],
    ]}
  />
)
