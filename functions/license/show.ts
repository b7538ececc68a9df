import { endpoint } from '#lib/http/endpoint.ts'
import { LicenseRecord } from '#lib/license/license.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/hypervisor_desktop/key',
  also: ['GET /v1/parallels_desktop/key'],
  summary: 'Show the active license of the virtualization product on this host',
  access: 'signed-in',
  effect: 'read',
  uses: ['license'],
  reply: LicenseRecord,
}).handle((_, { license }) => license.read())
