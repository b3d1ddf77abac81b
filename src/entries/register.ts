import { register } from '../processor/attach/register.ts'

register()
