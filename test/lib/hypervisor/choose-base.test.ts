import { describe, expect, test } from 'vitest'
import { chooseBase } from '#lib/hypervisor/qemu/layers/choose-base.ts'

describe('the layers that are merged', () => {
  test.for([
    ['a disk that has room', [1, 1, 1], undefined],
    ['small layers over a large one', [1, 1, 1, 100], 3],
    ['a layer that is much larger than those above', [1, 1, 100, 1000], 2],
    ['layers of one size', [5, 5, 5, 5], 3],
    ['a chain of an older version', [1, 1, 100, 1000, 1000, 9000], 5],
  ] as const)('%s', ([, sizes, base]) => {
    expect(chooseBase(sizes)).toBe(base)
  })

  test('any chain gets room for one more, and keeps its lowest image', () => {
    for (let length = 4; length < 70; length += 1) {
      const sizes = Array.from({ length }, (_, at) => (at * 7919) % 1000)
      const base = chooseBase(sizes)!
      expect(base).toBeLessThan(length)
      expect(length - base + 1).toBeLessThan(4)
    }
  })
})
