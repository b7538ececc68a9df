/** A program for workerd: runs the contracts of what sends requests, against the servers at the addresses that it is asked with. */
import { createFetchFetcher } from '#lib/objects/http/send-over-fetch.ts'
import { createFetchOutgoing } from '#lib/platform/outgoing-fetch.ts'
import { type Addresses, fetcherContract } from '../../contracts/fetcher.ts'
import { outgoingContract } from '../../contracts/outgoing.ts'
import { runTests } from '../../support/workerd/vitest.ts'

let addresses: Addresses

export default {
  async fetch(request: Request): Promise<Response> {
    // What the test sends.
    addresses = (await request.json()) as Addresses
    return Response.json(await runTests())
  },
}

fetcherContract('in workerd', createFetchFetcher, () => addresses)
outgoingContract('in workerd', createFetchOutgoing, () => addresses)
