import { execFileSync } from 'node:child_process'
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder } from '../folder.ts'

/** A disk of its own that is soon full. */
export interface SmallDisk extends Disposable {
  readonly path: string
  /** Takes all room but so many bytes, as somebody else on the host would. */
  fill(left?: number): void
  /** Gives that room back. */
  empty(): void
  remount(option: 'ro' | 'rw'): void
}

const mount = (path: string, megabytes: number): void =>
  void execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', path], { stdio: 'ignore' })
const unmount = (path: string): void => void execFileSync('umount', ['-l', path], { stdio: 'ignore' })

/** Whether this user may mount: without that there are no small disks. */
export const canMount = ((): boolean => {
  using folder = newFolder()
  try {
    mount(folder.path, 1)
    unmount(folder.path)
    return true
  } catch {
    return false
  }
})()

export const newSmallDisk = (megabytes: number): SmallDisk => {
  const folder = newFolder()
  const root = join(folder.path, 'disk')
  mkdirSync(root)
  mount(root, megabytes)
  // Outside of the state folder, which is a folder of this disk.
  const filler = join(root, 'filler')
  const path = join(root, 'state')
  mkdirSync(path, { mode: 0o700 })
  return {
    path,
    fill(left = 0) {
      const handle = openSync(filler, 'a')
      for (const size of [65_536, 4_096, 1])
        try {
          for (;;) writeSync(handle, Buffer.alloc(size, 1))
        } catch {
          // Full.
        }
      ftruncateSync(handle, Math.max(0, fstatSync(handle).size - left))
      closeSync(handle)
    },
    empty: () => rmSync(filler, { force: true }),
    remount: option => void execFileSync('mount', ['-o', `remount,${option}`, root], { stdio: 'ignore' }),
    [Symbol.dispose]() {
      unmount(root)
      folder[Symbol.dispose]()
    },
  }
}
