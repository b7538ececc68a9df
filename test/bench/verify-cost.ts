import { createReadStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { listPackFiles } from '#lib/packs/pack-files.ts'
import { unpackTar } from '#lib/packs/tar/unpack-tar.ts'
import { createPackVerifier } from '#lib/transfers/download/pack-verifier.ts'
import type { PackSource } from '#lib/transfers/download/pack-source.ts'
import { packFiles } from '#lib/transfers/packing.ts'
import { createStartWorker } from '#lib/platform/workers.ts'
import { addMachine, mebibyte } from './disk-image.ts'
import { median } from './load.ts'
import { ratioRow, type Row } from './table.ts'

const startWorker = createStartWorker(new URL('../../lib/entry/main.ts', import.meta.url))
const rounds = 5
const size = 256 * mebibyte

/** Processor time of unpacking a pack whose SHA-256 is checked on its way, against the same unchecked. */
export const verifyRow = async (): Promise<Row> => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-bench-'))
  try {
    const files = await listPackFiles(addMachine(folder, 'source', size, 'used'))
    const { signal } = new AbortController()
    const { file, digest } = await packFiles(
      folder,
      files,
      { kind: 'none' },
      { startWorker, signal, onProgress: () => undefined },
    )
    const source = { size: (await stat(file)).size, sha256: digest.sha256, manifest: { name: 'bench' } } as PackSource
    const target = join(folder, 'target')
    /** Milliseconds. */
    const unpack = async (checked: boolean): Promise<number> => {
      mkdirSync(target)
      const before = process.cpuUsage()
      const bytes = Readable.toWeb(createReadStream(file, { highWaterMark: mebibyte })) as ReadableStream<Uint8Array>
      const check = checked ? createPackVerifier(bytes, source) : { stream: bytes, verifyComplete: () => undefined }
      await unpackTar(check.stream, target, { limits: { entries: 100, bytes: 2 * size, ratio: 1_000 } })
      check.verifyComplete()
      const { user, system } = process.cpuUsage(before)
      rmSync(target, { recursive: true })
      return (user + system) / 1000
    }
    const seen = { checked: [] as number[], unchecked: [] as number[] }
    for (let round = 0; round <= rounds; round += 1) {
      const [checked, unchecked] = [await unpack(true), await unpack(false)]
      if (round === 0) continue
      seen.checked.push(checked)
      seen.unchecked.push(unchecked)
    }
    return ratioRow(
      'unpacking 256 MiB, its SHA-256 checked on the way, against unchecked',
      { measured: median(seen.checked), floor: median(seen.unchecked), unit: 'ms CPU', digits: 0 },
      { most: 1.6 },
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}
