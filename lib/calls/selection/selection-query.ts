import * as z from 'zod'

/** The part of a list that a request asks for. */
export const SelectionQuery = z.object({
  labels: z.string().max(2048).optional().meta({
    description:
      'Only items whose labels match: name=value, name!=value, name in (a,b), name notin (a,b), name, !name, joined by commas',
  }),
  fields: z.string().max(2048).optional().meta({
    description: 'Only these members of each item, separated by commas',
  }),
  limit: z.coerce.number().int().min(1).max(1000).optional().meta({
    description: 'Items on a page; all when left out',
  }),
  after: z.string().max(256).optional().meta({ description: 'From the Link of the previous page' }),
})
export type SelectionQuery = z.infer<typeof SelectionQuery>
