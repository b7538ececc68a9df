/** A process that opens an embedded driver on a folder, starts its demo machine and says when; made to be killed. */
import { createEmbeddedBench } from './embedded-bench.ts'

const driver = createEmbeddedBench(process.argv[2]!).driver()
await driver.open(() => {})
const { id } = await driver.createDemo()
await driver.run(id, 'start', { force: false, deadline: AbortSignal.timeout(10_000) })
console.log(id)
