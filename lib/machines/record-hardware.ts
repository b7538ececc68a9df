import type { Definition } from '#lib/hypervisor/definition.ts'
import type { MachineView, Platform } from '#lib/hypervisor/driver.ts'
import { getCardModel, getCardName, getDiskBus, getDiskName, getDriveBus, isModern } from '#lib/hypervisor/parts.ts'
import { recordTemplate } from './record-template.ts'

const { Hardware: template } = recordTemplate

type Parts<Part> = Readonly<Record<string, Part>>

/** Formats a MAC address as the record has it: twelve upper-case digits, without separators. */
const formatMac = (mac: string): string => mac.replaceAll(/[^0-9a-fA-F]/g, '').toUpperCase()

const formatMegabytes = (bytes: number): string => `${Math.round(bytes / (1 << 20))}Mb`

/** Returns a function that numbers the devices of each bus: `virtio:0`, `virtio:1`, … The IDE bus of a new machine is SATA. */
const createPortCounter = (definition: Definition): ((bus: 'virtio' | 'ide') => string) => {
  const counts = { virtio: 0, ide: 0 }
  const ide = isModern(definition) ? 'sata' : 'ide'
  return bus => `${bus === 'ide' ? ide : bus}:${counts[bus]++}`
}

const toAbsolute = (home: string, path: string): string => (path.startsWith('/') ? path : `${home}/${path}`)

const describeDisks = (
  { definition, home }: MachineView,
  nextPort: ReturnType<typeof createPortCounter>,
): Parts<typeof template.hdd0> =>
  Object.fromEntries(
    definition.disks.map((disk, at) => [
      getDiskName(disk, at),
      {
        ...template.hdd0,
        enabled: true,
        port: nextPort(getDiskBus(definition, disk, at)),
        image: toAbsolute(home, disk.path),
        // A file that grows with what is written to it.
        type: disk.format === 'qcow2' || disk.backing !== undefined ? 'expanded' : 'plain',
        size: formatMegabytes(disk.size),
      },
    ]),
  )

const describeDrives = (
  { definition, home }: MachineView,
  nextPort: ReturnType<typeof createPortCounter>,
): Parts<typeof template.cdrom0> =>
  Object.fromEntries(
    (definition.cdroms ?? []).map(drive => {
      const isEmpty = drive.path === undefined && drive.image === undefined
      const image = drive.path === undefined ? (drive.image ?? '') : toAbsolute(home, drive.path)
      const state = isEmpty ? 'disconnected' : 'connected'
      return [drive.name, { enabled: true, port: nextPort(getDriveBus(definition, drive)), image, state }]
    }),
  )

const describeCards = (definition: Definition, { networkCard }: Platform): Parts<typeof template.net0> =>
  Object.fromEntries(
    definition.networks.map((card, at) => [
      getCardName(card, at),
      {
        // A driver without network cards keeps the address, for a driver that has them.
        enabled: networkCard !== '',
        type: networkCard === '' ? '' : (card.mode ?? 'shared'),
        mac: formatMac(card.mac),
        card: networkCard === '' ? '' : getCardModel(definition, card),
      },
    ]),
  )

/** Returns the hardware of a machine as its record shows it: every key of the template, and each further part by its name. */
export const describeHardware = (view: MachineView, platform: Platform) => {
  const { definition } = view
  const { cpus, memory, max_cpus = cpus, max_memory = memory, display = false } = definition
  const nextPort = createPortCounter(definition)
  return {
    ...template,
    cpu: {
      ...template.cpu,
      cpus,
      hotplug: max_cpus > cpus,
      accl: platform.acceleration,
      mode: platform.cpuMode,
      type: platform.cpuType,
    },
    memory: { ...template.memory, size: `${memory}Mb`, hotplug: max_memory > memory },
    video: { ...template.video, ...(display && { 'adapter-type': 'VGA', size: '16Mb' }) },
    usb: { enabled: display },
    ...describeDisks(view, nextPort),
    ...describeDrives(view, nextPort),
    ...describeCards(definition, platform),
  }
}
