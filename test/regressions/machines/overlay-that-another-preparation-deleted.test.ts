import { statSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { createImages } from '#lib/hypervisor/qemu/images.ts'
import { discardOverlays, prepareOverlays, switchToOverlays } from '#lib/hypervisor/qemu/layers/put-overlays.ts'
import type { Qmp } from '#lib/hypervisor/qemu/qmp.ts'
import { qcow2Header } from '../../support/disks/qcow2-header.ts'
import { newFolder } from '../../support/folder.ts'

test('a snapshot puts its overlay over a disk while the overlay for the next fork is given up', async () => {
  using folder = newFolder()
  const path = join(folder.path, 'disk0.qcow2')
  writeFileSync(path, qcow2Header())
  const devices = [{ qdev: 'hdd0', inserted: { 'node-name': 'hdd0', file: path } }]
  // The part of QEMU's control socket that both use.
  const qmp = {
    query: async (_command: string, answer: { parse: (value: unknown) => unknown }) => answer.parse(devices),
    execute: async () => ({}),
  } as unknown as Qmp
  const context = { qmp, images: createImages('qemu-img'), account: undefined }
  const ofFork = await prepareOverlays([{ name: 'hdd0', path }], context)
  const ofSnapshot = await prepareOverlays([{ name: 'hdd0', path }], context)
  await discardOverlays(ofFork)
  await switchToOverlays(qmp, ofSnapshot)
  const [{ base, file }] = ofSnapshot as [(typeof ofSnapshot)[0]]
  expect(statSync(path).ino).toBe(statSync(file).ino)
  const left = (await readdir(folder.path)).toSorted()
  expect(left).toEqual(expect.arrayContaining(['disk0.qcow2', basename(base), basename(file)]))
})
