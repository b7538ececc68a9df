import { expect, test, vi } from 'vitest'
import { getAreaLogger, onLogLine, openLog } from '#lib/platform/log.ts'

test('a line of the log says a text as it is, with its fields beside it', async () => {
  await openLog('warning')
  const written: string[] = []
  const write = vi.spyOn(process.stderr, 'write').mockImplementation(line => written.push(String(line)) > 0)
  const told: string[] = []
  using _ = onLogLine(({ message }) => void told.push(message))
  try {
    getAreaLogger('catalog').warning('{text}', { text: 'Nobody has signed "demo".' })
    getAreaLogger('http').warning('{method} {status}', { method: 'GET', status: 502 })
  } finally {
    write.mockRestore()
  }
  const lines = written.map(line => JSON.parse(line) as { message: string; properties: object })
  expect(lines.map(({ message }) => message)).toEqual(['Nobody has signed "demo".', 'GET 502'])
  expect(lines[1]!.properties).toEqual({ method: 'GET', status: 502 })
  expect(told).toEqual(lines.map(({ message }) => message))
})
