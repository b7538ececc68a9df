import { IssuedLink } from '#lib/auth/browser/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/auth/links',
  summary: 'Issue a link with which you set a new password of your own in a browser, once, within 24 hours',
  description:
    'An earlier link of yours ends. A change of your password ends the link too. The command `vmhost link` issues one for root.',
  access: { roles: ['SUPER_USER'], apiKeys: false },
  effect: 'change',
  uses: ['links'],
  secretReply: true,
  faults: ['conflict'],
  reply: IssuedLink,
  status: 201,
}).handle(({ caller }, { links }) => links.issue(caller))
