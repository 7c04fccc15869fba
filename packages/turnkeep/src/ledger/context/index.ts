export type { ContextAnswer, ReadyContext, SummaryRequired } from './context.ts';
export type { ContextMemories, ContextMemory, ContextPolicy, RequestFormat } from './policy.ts';
export type { ContextLeftOut, ContextRepair, ContextReport, ContextTokens, NoteKind } from './report.ts';
export type { ContextRequest } from './request.ts';
export type { SummarizeOptions, Summarizer } from './summarize.ts';
export type { TokenCounter } from './tokens.ts';
