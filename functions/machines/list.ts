import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { endpoint } from '#lib/http/endpoint.ts'
import { MachineRecord } from '#lib/machines/record.ts'
import { SelectionQuery } from '#lib/calls/selection/selection-query.ts'

const path = '/v1/machines'

export default endpoint({
  method: 'GET',
  path,
  summary: 'List the machines of this host',
  access: { claims: ['LIST_VM'] },
  effect: 'read',
  uses: ['machines'],
  query: SelectionQuery,
  filter: true,
  hasETag: true,
  paged: true,
  reply: z.array(MachineRecord),
}).handle((call, { machines }) => {
  const { query } = call
  if (call.header('x-filter') && (query.limit ?? query.after ?? query.fields) !== undefined)
    throw new ServiceError('invalid', 'X-Filter cannot be combined with limit, after and fields; select by labels.')
  const isWhole = Object.values(query).every(value => value === undefined)
  return isWhole ? machines.list() : machines.select(query, path)
})
