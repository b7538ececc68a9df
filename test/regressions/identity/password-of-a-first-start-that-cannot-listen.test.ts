import { createServer, type AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { newState, runProgram, startService } from '../../support/service.ts'

test('the password that the first start generated is shown even if the start fails later', async () => {
  using state = newState()
  const other = createServer()
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  const failed = await runProgram(['serve'], { VMHOST_LISTEN: `https://127.0.0.1:${port}` }, state.path)
  other.close()
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot listen') })
  const password = /The password of root is (\S+)/.exec(failed.stdout)![1]!

  const service = await startService({ state: state.path })
  expect(service.printed).not.toContain('The password of root')
  await service.signIn(password)
  await service.stop()
})
