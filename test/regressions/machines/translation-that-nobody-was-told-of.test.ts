import { expect, test } from 'vitest'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { newState, rootPassword, startService } from '../../support/service.ts'

test.skipIf(withoutQemu)('where KVM is not used, log, health and record say why', async () => {
  using state = newState()
  const service = await startService({
    state: state.path,
    driver: 'qemu',
    env: { VMHOST_ROOT_PASSWORD: rootPassword },
  })
  const token = await service.signIn()
  const health = (await service.call('GET', '/api/v1/health/system', { token })).body
  const [machine] = (await service.call('GET', '/api/v1/machines/demo', { token })).body
  const type: string = machine.Optimization['Hypervisor type']
  expect(health.services).toContainEqual({ name: 'hypervisor', healthy: true, message: type })
  const why = /^qemu-tcg; (KVM is not used: .+)$/.exec(type)?.[1]
  // A host with KVM has nothing to say.
  if (type !== 'qemu-kvm') expect(service.log()).toContain(why)
  await service.stop()
})
