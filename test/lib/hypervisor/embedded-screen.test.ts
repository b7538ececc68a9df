import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Verb } from '#lib/hypervisor/driver.ts'
import { createEmbeddedBench, waitForOutput } from '../../support/drivers/embedded-bench.ts'
import { newFolder } from '../../support/folder.ts'
import { decodePng, type Picture } from '../../support/guests/png.ts'
import { buildScreenKernel, graphicsKey } from '../../support/guests/screen-kernel.ts'
import { readScreenText } from '../../support/guests/screen-text.ts'
import { patience, until } from '../../support/waiting.ts'

const openMachine = async () => {
  const folder = newFolder()
  const kernel = join(folder.path, 'kernel.bin')
  await writeFile(kernel, buildScreenKernel())
  const driver = createEmbeddedBench(join(folder.path, 'machines')).driver()
  await driver.open(() => {})
  const { id } = await driver.create({ name: 'one', description: '', cpus: 1, memory: 16, disks: [], kernel })
  const run = (verb: Verb) => driver.run(id, verb, { deadline: AbortSignal.timeout(patience), force: verb === 'stop' })
  return {
    driver,
    id,
    run,
    async send(...bytes: number[]): Promise<void> {
      const port = await driver.openSerial(id)
      port.write(Buffer.from(bytes))
      port.close()
    },
    takePicture: async (): Promise<Picture> => decodePng(await driver.takeScreenshot!(id)),
    async [Symbol.asyncDispose]() {
      await run('stop').catch(() => {})
      await driver.close()
      folder[Symbol.dispose]()
    },
  }
}

describe('the screen of an embedded machine', () => {
  test('shows text in the font of a PC, also after a suspend', async () => {
    await using machine = await openMachine()
    const { driver, id, run, send, takePicture } = machine
    await waitForOutput(await run('start'), />/)
    await send(...Buffer.from('Hello, [World]'))
    const before = await until(async () => {
      const picture = await takePicture()
      expect(readScreenText(picture)[0]).toMatch(/Hello, \[World\]$/)
      return picture
    })
    expect(before).toMatchObject({ width: 720, height: 400 })
    await run('suspend')
    await expect(driver.takeScreenshot!(id)).rejects.toMatchObject({ fault: 'conflict', message: /suspended/ })
    await run('resume')
    expect(await takePicture()).toEqual(before)
  })

  test('shows the pixels of a graphics mode, also after a suspend', async () => {
    await using machine = await openMachine()
    const { run, send, takePicture } = machine
    await waitForOutput(await run('start'), />/)
    await send(graphicsKey)
    const before = await until(async () => {
      const picture = await takePicture()
      expect(picture).toMatchObject({ width: 320, height: 200 })
      expect(new Set(picture.pixels.slice(0, 320))).toEqual(new Set([0xff0000]))
      return picture
    })
    expect(new Set(before.pixels.slice(320))).toEqual(new Set([0]))
    await run('suspend')
    await run('resume')
    expect(await takePicture()).toEqual(before)
  })
})
