import { expect, test } from 'vitest'
import { createProgressReader } from '#lib/hypervisor/qemu/qemu-img/read-progress.ts'

test('the progress of qemu-img is read from chunks of any length', () => {
  const output = ['0.00', '1.02', '10.50', '99.90', '100.00'].map(percent => `    (${percent}/100%)\r`).join('')
  for (const length of [1, 2, 3, 7, 16, 33, output.length]) {
    const seen: number[] = []
    const read = createProgressReader(fraction => seen.push(fraction))
    for (let at = 0; at < output.length; at += length) read(output.slice(at, at + length))
    expect(seen).toEqual(seen.toSorted((one, other) => one - other))
    expect(seen.at(-1)).toBe(1)
  }
})
