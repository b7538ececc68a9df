import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'
import type { TransferContext } from '#lib/transfers/context.ts'
import { createTransfers } from '#lib/transfers/transfers.ts'

const run = promisify(execFile)

/** Packs a file of 4096 bytes: 512 of a header, the file, and 1024 of the end. */
const script = `
import { statSync } from 'node:fs'
import { packFiles } from '#lib/transfers/packing.ts'
import { openFile } from '#lib/platform/open-file.ts'
const [path, folder] = process.argv.slice(2)
const { size, mode, mtime } = statSync(path)
const options = { signal: new AbortController().signal, onProgress: () => {}, startWorker: () => {} }
const file = { name: 'disk', path, size, mode, modifiedAt: mtime, open: () => openFile(path) }
const packed = await packFiles(folder, [file], { kind: 'none' }, options)
console.log(packed.digest.size, statSync(packed.file).size)
`

test('a pack whose last bytes do not fit on the disk is not finished', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-test-'))
  const program = join(import.meta.dirname, `.full-disk-${process.pid}.ts`)
  try {
    writeFileSync(program, script)
    writeFileSync(join(folder, 'disk'), 'x'.repeat(4096))
    const pack = (limit: string) =>
      run('bash', [
        '-c',
        'ulimit -f "$1"; shift; exec "$@"',
        'bash',
        limit,
        process.execPath,
        program,
        join(folder, 'disk'),
        folder,
      ])
    // A limit of the system in KiB: it writes what fits of the last bytes, as a disk does.
    await expect(pack('5')).rejects.toMatchObject({ stderr: expect.stringContaining('EFBIG') })
    expect((await pack('100')).stdout).toBe('5632 5632\n')
  } finally {
    rmSync(program, { force: true })
    rmSync(folder, { recursive: true })
  }
})

test.for(['ENOSPC', 'EDQUOT'])('a full disk of this host is reported as such, not as a defect: %s', async code => {
  const full = async (): Promise<never> => {
    throw Object.assign(new Error('full'), { code })
  }
  const context = {
    catalog: { withLock: createKeyedMutex() },
    folders: { open: full },
    machines: { checkName: () => {}, import: full },
    architecture: 'arm64',
  } as unknown as TransferContext
  const caller = { id: '', username: '', email: '', roles: [], claims: new Set<string>(), superUser: true }
  const work = { plan() {}, begin() {}, end() {}, advance() {} }
  const request = { catalog_id: 'demo', version: '1', connection: 'provider=local-storage', uuid: 'source', tags: [] }
  await expect(createTransfers(context).push(caller, request as never, work as never)).rejects.toMatchObject({
    fault: 'no-space',
  })
})
