import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { writeFileAtomic } from '#lib/platform/files.ts'
import { readStateFile } from '#lib/platform/open-file.ts'

/** The file in the folder of a fork that says which QEMU still has the identity of its source. */
const markerFile = 'fork.json'

const Marker = z.object({ pid: z.int() })

/** Records that this QEMU of a machine still has the identity of the machine that it was forked from. */
export const writeForkMarker = (home: string, pid: number): Promise<void> =>
  writeFileAtomic(join(home, markerFile), JSON.stringify({ pid }))

/** Returns the pid of the QEMU that still has the identity of another machine; undefined if there is none. */
export const readForkMarker = async (home: string): Promise<number | undefined> => {
  const text = await readStateFile(join(home, markerFile))
  return text === undefined ? undefined : Marker.safeParse(JSON.parse(text)).data?.pid
}

export const removeForkMarker = (home: string): Promise<void> => rm(join(home, markerFile), { force: true })
