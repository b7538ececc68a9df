import { expect, test } from 'vitest'
import { createStreamLimit } from '#lib/catalog/stream-limit.ts'

const endless = async (): Promise<ReadableStream<Uint8Array>> =>
  new ReadableStream({ pull: controller => controller.enqueue(new Uint8Array(1)) })
const most = 64

test('the number of packs that one caller has open is limited, and each that ends makes room for another', async () => {
  const openFor = createStreamLimit()
  const open = await Promise.all(Array.from({ length: most }, () => openFor('greedy', endless)))
  await expect(openFor('greedy', endless)).rejects.toMatchObject({ fault: 'unavailable' })
  await openFor('other', endless)

  await open[0]!.cancel()
  await openFor('greedy', endless)
  await expect(openFor('greedy', endless)).rejects.toMatchObject({ fault: 'unavailable' })

  await open[1]!.cancel()
  const short = await openFor('greedy', async () => new Blob(['the bytes']).stream())
  expect(await new Response(short).text()).toBe('the bytes')
  const failing = async () => new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error('gone')) })
  await expect(new Response(await openFor('greedy', failing)).text()).rejects.toThrow('gone')
  const refused = openFor('greedy', () => Promise.reject(new Error('not there')))
  await expect(refused).rejects.toThrow('not there')
  await openFor('greedy', endless)
})
