import { register } from '../processor/register.ts'

register()
