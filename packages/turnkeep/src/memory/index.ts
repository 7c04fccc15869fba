export { MemoryBackend } from './memory-backend.ts';
