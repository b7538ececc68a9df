import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ImageFacts } from '#lib/images/formats/facts.ts'
import { inspectImage } from '#lib/images/formats/inspect-image.ts'
import { openFile } from '#lib/platform/open-file.ts'
import { newFolder } from '../folder.ts'

/** Something wrong with an image: what, the image, and what the refusal says. */
export type HostileImage = readonly [what: string, image: () => Buffer, why: RegExp]

/** Judges bytes as the file of an image. */
export const inspectBytes = async (bytes: Uint8Array): Promise<ImageFacts> => {
  using folder = newFolder()
  const path = join(folder.path, 'image')
  writeFileSync(path, bytes)
  await using file = await openFile(path)
  return await inspectImage(file)
}

/** A test per image: it is refused, and the refusal names the reason. */
export const testRefusals = (images: readonly HostileImage[]): void =>
  test.for(images)('it is refused if %s', async ([, image, why]) => {
    await expect(inspectBytes(image())).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringMatching(why),
    })
  })

/** A copy of the image with changes. */
export const change = (image: Buffer, ...changes: readonly ((bytes: Buffer) => unknown)[]): Buffer => {
  const copy = Buffer.from(image)
  for (const one of changes) one(copy)
  return copy
}
