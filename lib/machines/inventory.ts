import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import { PreparedBody } from '#lib/calls/prepared-body.ts'
import { type Host, machineRecord } from './record.ts'
import type { TransientState } from './states.ts'

export interface Inventory {
  /** Opens the driver and learns of every machine; from here on the driver's reports are taken in. */
  open(): Promise<void>
  all(): readonly MachineView[]
  /** The machine of this UUID or name, in any case; a UUID wins. Throws `not-found`. */
  find(reference: string): MachineView
  /** Takes in what the driver says of a machine now. */
  accept(view: MachineView): void
  forget(id: string): void
  /** Reads a machine from the driver again, after a call that failed. */
  refresh(id: string): Promise<void>
  /** What the machine is shown as may have changed. */
  touch(id: string): void
  /** All records, in the order of their names, as one JSON array in bytes that stay the same until something changes. */
  list(): PreparedBody
}

interface Options {
  readonly driver: HypervisorDriver
  readonly host: Host
  readonly shown: (id: string) => TransientState | undefined
  /** Is told after anything of a machine may have changed; undefined when it is gone. */
  readonly changed: (id: string, view: MachineView | undefined) => void
}

/** The machines of this host as last seen, with their encoded records. */
export const createInventory = ({ driver, host, shown, changed: tell }: Options): Inventory => {
  const boot = crypto.randomUUID().slice(0, 8)
  const views = new Map<string, MachineView>()
  const ids = new Map<string, string>()
  const records = new Map<string, Buffer>()
  let version = 0
  let encoded: PreparedBody | undefined

  const changed = (id: string): void => {
    records.delete(id)
    version += 1
    encoded = undefined
    tell(id, views.get(id))
  }
  const accept = (view: MachineView): void => {
    const before = views.get(view.id)
    if (before === view) return
    if (before) ids.delete(before.name.toLowerCase())
    ids.set(view.name.toLowerCase(), view.id)
    views.set(view.id, view)
    changed(view.id)
  }
  const forget = (id: string): void => {
    const before = views.get(id)
    if (!before) return
    ids.delete(before.name.toLowerCase())
    views.delete(id)
    changed(id)
  }
  const readAll = async (): Promise<void> => {
    const found = await driver.list()
    const ids = new Set(found.map(view => view.id))
    for (const id of views.keys()) if (!ids.has(id)) forget(id)
    found.forEach(accept)
  }
  const recordBytes = (view: MachineView): Buffer => {
    const known = records.get(view.id)
    if (known) return known
    const bytes = Buffer.from(JSON.stringify(machineRecord(view, shown(view.id), host, driver.platform)))
    records.set(view.id, bytes)
    return bytes
  }
  const byName = (a: MachineView, b: MachineView): number => a.name.localeCompare(b.name) || a.id.localeCompare(b.id)
  const encode = (): PreparedBody => {
    const parts = [...views.values()].sort(byName).flatMap((view, at) => [comma(at), recordBytes(view)])
    return new PreparedBody(Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']')]), `"${boot}-${version}"`)
  }

  return {
    async open() {
      await driver.open(what => {
        if (what === 'gap') void readAll()
        else if ('gone' in what) forget(what.gone)
        else accept(what.view)
      })
      await readAll()
    },
    all: () => [...views.values()],
    find(reference) {
      const wanted = reference.toLowerCase()
      const view = views.get(wanted) ?? views.get(ids.get(wanted) ?? '')
      if (!view) throw new ServiceError('not-found', `There is no machine with the id or name ${reference}.`)
      return view
    },
    accept,
    forget,
    async refresh(id) {
      const view = await driver.get(id)
      if (view) accept(view)
      else forget(id)
    },
    touch: changed,
    list: () => (encoded ??= encode()),
  }
}

const comma = (at: number): Buffer => Buffer.from(at === 0 ? '' : ',')
