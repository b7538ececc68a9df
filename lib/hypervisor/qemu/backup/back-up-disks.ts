import { chmod, lchown, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import { syncFile } from '#lib/platform/files.ts'
import type { Account } from '#lib/platform/processes.ts'
import type { Agent } from '../../agent/agent.ts'
import { runFrozen } from '../../agent/freeze-guest.ts'
import type { Consistency } from '../../driver.ts'
import type { Images } from '../images.ts'
import type { Qmp } from '../qmp.ts'
import { endJobs, waitForJobs } from './backup-jobs.ts'

/** A disk of a running machine that is copied. */
export interface CopiedDisk {
  /** The name of its node in QEMU. */
  readonly node: string
  /** Bytes. */
  readonly size: number
  /** The path of the copy, a new qcow2 image. */
  readonly to: string
}

interface Options {
  readonly qmp: Qmp
  readonly agent: Agent | undefined
  /** The folder of the machine, in which QEMU works. */
  readonly home: string
  readonly account: Account | undefined
  readonly images: Images
  readonly disks: readonly CopiedDisk[]
  readonly deadline: AbortSignal
  readonly onProgress: (fraction: number) => void
}

/** The names of copies that are not complete. Each is also the name of the job in QEMU, and of the node of the copy. */
const unfinishedPattern = /^(clone-[0-9a-f]{8}-\d+)\.qcow2$/

const getFile = (home: string, id: string): string => join(home, `${id}.qcow2`)

/** Ends copies and removes what there is of them. */
const removeCopies = async (home: string, ids: readonly string[], qmp: Qmp | undefined): Promise<void> => {
  try {
    if (!qmp) return
    await endJobs(qmp, ids)
    for (const id of ids) await qmp.execute('blockdev-del', { 'node-name': id }).catch(() => {})
  } finally {
    // Without its name the file goes when QEMU closes it.
    for (const id of ids) await rm(getFile(home, id), { force: true })
  }
}

/** Removes what a killed service has left of copies. `connect` is called only if there is something. */
export const removeUnfinishedCopies = async (
  home: string,
  { connect, warn }: { readonly connect: () => Promise<Qmp> | undefined; readonly warn: (reason: string) => void },
): Promise<void> => {
  const ids = (await readdir(home)).flatMap(name => unfinishedPattern.exec(name)?.[1] ?? [])
  if (ids.length === 0) return
  const remove = async (): Promise<void> => removeCopies(home, ids, await connect())
  // QEMU may not answer, and the start of the service does not wait for it.
  void remove().catch((error: unknown) => warn(messageOf(error)))
}

/**
 * Copies the disks of a running machine as they are in one moment, while the guest goes on. The file systems of the guest are frozen
 * for that moment if its agent can do that. QEMU writes the copies beside its own disks, where it can create no file and so cannot
 * put a link in the place of one. Throws as `waitForJobs`.
 */
export const backUpDisks = async (options: Options): Promise<Consistency> => {
  const { qmp, agent, home, account, images, disks, deadline, onProgress } = options
  const name = `clone-${crypto.randomUUID().slice(0, 8)}`
  const copies = disks.map((disk, at) => ({ ...disk, id: `${name}-${at}` }))
  const ids = copies.map(({ id }) => id)
  try {
    for (const { id, size } of copies) {
      const path = getFile(home, id)
      await images.create(path, size)
      await chmod(path, 0o600)
      if (account) await lchown(path, account.uid, account.gid)
      const file = { driver: 'file', filename: `${id}.qcow2` }
      await qmp.execute('blockdev-add', { driver: 'qcow2', 'node-name': id, file })
    }
    const actions = copies.map(({ id, node }) => ({
      type: 'blockdev-backup',
      data: { device: node, target: id, 'job-id': id, sync: 'full', 'auto-dismiss': false },
    }))
    const isFrozen = await runFrozen(agent, deadline, async () => {
      if (actions.length > 0) await qmp.execute('transaction', { actions })
    })
    await waitForJobs(qmp, ids, { signal: deadline, onProgress })
    await endJobs(qmp, ids)
    for (const { id, to } of copies) {
      await qmp.execute('blockdev-del', { 'node-name': id })
      const path = getFile(home, id)
      if (account) await lchown(path, 0, 0)
      await syncFile(path)
      await rename(path, to)
    }
    return isFrozen ? 'filesystem' : 'crash'
  } catch (error) {
    await removeCopies(home, ids, qmp).catch(() => {})
    throw error
  }
}
