import { sshArea } from './cases/ssh.ts'
import { conform } from './conform.ts'

conform(sshArea)
