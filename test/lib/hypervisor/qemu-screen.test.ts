import { readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openQemuBench, type QemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { decodePng } from '../../support/guests/png.ts'
import { patience } from '../../support/waiting.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'screens of QEMU machines', () => {
  let bench: QemuBench
  beforeAll(async () => void (bench = await openQemuBench()), patience)
  afterAll(() => bench[Symbol.asyncDispose](), patience)

  const readArguments = async (id: string): Promise<string> =>
    readFileSync(`/proc/${await bench.pid(id)}/cmdline`, 'utf8').replaceAll('\0', ' ')

  test('a machine gets a screen while it is stopped; one of the type pc gets none', async () => {
    const { driver, run } = bench
    const { id, definition } = await bench.create('later', 32)
    await run(id, 'start')
    expect(await readArguments(id)).not.toContain('-vnc')
    await expect(driver.takeScreenshot!(id)).rejects.toMatchObject({ fault: 'conflict', message: /no screen/ })
    await expect(driver.openScreen!(id)).rejects.toMatchObject({ fault: 'conflict', message: /no screen/ })
    const withScreen = { ...definition, display: true }
    await expect(driver.configure(id, withScreen)).rejects.toMatchObject({ fault: 'conflict' })
    await run(id, 'stop', { force: true })
    await driver.configure(id, withScreen)
    await expect(driver.openScreen!(id)).rejects.toMatchObject({ fault: 'conflict', message: /stopped/ })
    await run(id, 'start')
    expect(await readArguments(id)).toContain('-vnc unix:run/screen.sock')
    expect(decodePng(await driver.takeScreenshot!(id)).width).toBeGreaterThan(300)

    const { id: _, ...likeIt } = definition
    const old = { ...likeIt, machine_type: 'pc' as const, disks: [{ size: 1 }], name: 'old' }
    const { id: pc, definition: hardware } = await driver.create({ ...old, networks: undefined })
    await expect(driver.configure(pc, { ...hardware, display: true })).rejects.toMatchObject({ fault: 'unsupported' })
  })

  test('a screen survives a suspend, and a restart of the service', async () => {
    const { id, definition } = await bench.create('saved', 32)
    await bench.driver.configure(id, { ...definition, display: true })
    await bench.run(id, 'start')
    await bench.run(id, 'suspend')
    await bench.run(id, 'resume')
    await bench.close()
    await bench.open()
    const screen = await bench.driver.openScreen!(id)
    const [banner] = await screen.take(1).toArray()
    expect(String(banner)).toBe('RFB 003.008\n')
    expect(decodePng(await bench.driver.takeScreenshot!(id)).width).toBeGreaterThan(300)
  })

  test('the service follows no link that QEMU has put in the place of its socket or its picture', async () => {
    const { id, definition } = await bench.create('linked', 32)
    await bench.driver.configure(id, { ...definition, display: true })
    const { home } = await bench.run(id, 'start')
    const [socket, other] = [join(home, 'run/screen.sock'), join(bench.folder, 'other.sock')]
    rmSync(socket)
    await expect(bench.driver.openScreen!(id)).rejects.toMatchObject({ fault: 'conflict', message: /older version/ })
    let connections = 0
    const server = createServer(() => void (connections += 1)).listen(other)
    symlinkSync(other, socket)
    await expect(bench.driver.openScreen!(id)).rejects.toMatchObject({ fault: 'upstream' })
    expect(connections).toBe(0)
    server.close()
  })
})
