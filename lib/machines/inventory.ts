import { createHash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import { PreparedBody } from '#lib/calls/prepared-body.ts'
import { type Host, type MachineRecord, recordMembers, toMachineRecord } from './record.ts'
import type { SelectionQuery } from '#lib/calls/selection/selection-query.ts'
import { createFieldPicker } from '#lib/calls/selection/pick-fields.ts'
import { compareItems, formatNextLink, selectPage } from '#lib/calls/selection/select.ts'
import type { TransientState } from './states.ts'

/** The last known views of the machines of this host. */
export interface Inventory {
  /** Opens the driver and reads all machines. From then on the events of the driver keep the inventory up to date. */
  open(): Promise<void>
  listViews(): readonly MachineView[]
  /** Returns the machine with this UUID. */
  get(id: string): MachineView | undefined
  /** Returns the machine with this UUID or name, in any case. A UUID takes precedence. Throws `not-found`. */
  find(reference: string): MachineView
  /** Stores the present view of a machine, as the driver returned it. */
  update(view: MachineView): void
  remove(id: string): void
  /** Reads a machine from the driver again. Callers use it after a failed call, which may have changed the machine. */
  refresh(id: string): Promise<void>
  /** Discards the encoded record of a machine, because its transient state has changed. */
  invalidate(id: string): void
  /** Returns all records, ordered by name, as an encoded JSON array. It stays the same object until something changes. */
  encodeList(): PreparedBody
  /**
   * Returns the records that a query selects, ordered by name, with a `Link` to the next page. `path` is that of the list. Throws
   * `invalid`.
   */
  encodeSelection(query: SelectionQuery, path: `/${string}`): PreparedBody
}

interface Options {
  readonly driver: HypervisorDriver
  readonly host: Host
  readonly getTransientState: (id: string) => TransientState | undefined
  /** Called after a machine may have changed. The view is undefined if the machine is gone. */
  readonly onChange: (id: string, view: MachineView | undefined) => void
  /** Called after a machine whose hypervisor process has crashed is in the inventory. */
  readonly onCrash: (view: MachineView) => void
}

/** Creates an inventory, which is empty until it is opened. It encodes the record of a machine once per change. */
export const createInventory = ({ driver, host, getTransientState, onChange, onCrash }: Options): Inventory => {
  // Part of the ETag, because the version starts at 0 in every process.
  const processId = crypto.randomUUID().slice(0, 8)
  const views = new Map<string, MachineView>()
  const idsByName = new Map<string, string>()
  const encodedRecords = new Map<string, Buffer>()
  let version = 0
  let encodedList: PreparedBody | undefined

  const invalidate = (id: string): void => {
    encodedRecords.delete(id)
    version += 1
    encodedList = undefined
    onChange(id, views.get(id))
  }
  const update = (view: MachineView): void => {
    const previous = views.get(view.id)
    if (previous === view) return
    if (previous) idsByName.delete(previous.name.toLowerCase())
    idsByName.set(view.name.toLowerCase(), view.id)
    views.set(view.id, view)
    invalidate(view.id)
  }
  const remove = (id: string): void => {
    const previous = views.get(id)
    if (!previous) return
    idsByName.delete(previous.name.toLowerCase())
    views.delete(id)
    invalidate(id)
  }
  const readAll = async (): Promise<void> => {
    const found = await driver.list()
    const foundIds = new Set(found.map(view => view.id))
    for (const id of views.keys()) if (!foundIds.has(id)) remove(id)
    found.forEach(update)
  }
  const toRecord = (view: MachineView): MachineRecord =>
    toMachineRecord(view, getTransientState(view.id), host, driver.platform)
  const encodeRecord = (view: MachineView): Buffer => {
    const existing = encodedRecords.get(view.id)
    if (existing) return existing
    const record = toRecord(view)
    const encoded = Buffer.from(JSON.stringify(record))
    encodedRecords.set(view.id, encoded)
    return encoded
  }
  const encodeAll = (): PreparedBody => {
    const comma = Buffer.from(',')
    const records = [...views.values()].sort(compareItems).map(encodeRecord)
    const parts = records.flatMap((record, index) => (index === 0 ? [record] : [comma, record]))
    return new PreparedBody(Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']')]), `"${processId}-${version}"`)
  }

  return {
    async open() {
      await driver.open(event => {
        if (event === 'gap') void readAll()
        else if ('gone' in event) remove(event.gone)
        else {
          update(event.view)
          if (event.cause === 'crash') onCrash(event.view)
        }
      })
      await readAll()
    },
    listViews: () => [...views.values()],
    get: id => views.get(id),
    find(reference) {
      const key = reference.toLowerCase()
      const view = views.get(key) ?? views.get(idsByName.get(key) ?? '')
      if (!view) throw new ServiceError('not-found', `There is no machine with the id or name ${reference}.`)
      return view
    },
    update,
    remove,
    async refresh(id) {
      const view = await driver.get(id)
      if (view) update(view)
      else remove(id)
    },
    invalidate,
    encodeList: () => (encodedList ??= encodeAll()),
    encodeSelection(query, path) {
      const pickFields = createFieldPicker(query.fields, recordMembers)
      const listed = [...views.values()]
        .sort(compareItems)
        .map(view => ({ view, id: view.id, name: view.name, labels: view.definition.labels ?? {} }))
      const { items, next } = selectPage(listed, query)
      const json = JSON.stringify(items.map(({ view }) => pickFields(toRecord(view))))
      // Pages of one version differ by their query alone.
      const digest = createHash('sha256').update(JSON.stringify(query)).digest('hex').slice(0, 16)
      return new PreparedBody(json, `"${processId}-${version}-${digest}"`, formatNextLink(path, next))
    },
  }
}
