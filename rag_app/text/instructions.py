"""Sentences of a document that read as instructions to a language model, and characters that hide them.

A document may say anything; none of it is an order. Loading warns of such sentences, prompts leave them out.
"""

# ruff: noqa: E501

from __future__ import annotations

import base64
import binascii
import functools
import re
import unicodedata

from rag_app.types import Span

# Names that mean a language model in any text, and words that also mean people and products.
_SURE = (
    r"(?:a\.?i\.?(?: (?:assistant|model|system|agent|reader)s?)?|(?:large )?language models?|llms?|chat ?gpt|gpt(?:-\w+)?|claude|gemini|"
    r"copilot|chat ?bots?|ki|sprachmodelle?|modèles? de langage|modelos? de lenguaje|人工智能|AI助手|アシスタント)"
)
_MODEL = rf"(?:{_SURE}|(?:assistant|model|bot|agent|assistent|asistente|助手|模型)s?)"
_PATTERNS = (
    # Overriding what was said before.
    r"\b(?:ignore|disregard|forget|override|bypass|discard|do not (?:follow|obey)|don't (?:follow|obey)|skip|drop|stop following)\b"
    r"[^.!?\n]{0,60}\b(?:instructions?|prompts?|rules|guidelines|directions|directives|context|messages?|passages?|"
    r"sources|everything|above|constraints|safety|said before|told)\b",
    r"\b(?:new|updated|revised|real|actual|important|urgent|special|hidden|secret|additional) (?:system )?"
    r"(?:instructions?|prompt|directives?|orders?|task)\b\s*(?:[:.!-]|for|follow|from|is\b)",
    r"\b(?:system|developer|admin(?:istrator)?|root) ?(?:(?:prompt|message|instruction|note|command)s?\s*[:!]|override\b)",
    r"\byour (?:system prompt|initial prompt|hidden (?:prompt|instructions)|system message)\b|\byour (?:original |initial |previous )?instructions (?:are|were|above)\b",
    # Addressing the model.
    rf"\b(?:you are|you're|act as|pretend (?:to be|you)|behave as|role-?play|imagine you are|from now on you)\b[^.!?\n]{{0,40}}"
    rf"\b(?:{_SURE}|dan|assistant (?:that|who|without)|jailbroken|unrestricted|pirate|hacker|evil|no longer)\b",
    rf"\bas an? (?:helpful |obedient |large )?{_SURE}\b[^.!?\n]{{0,20}}\b(?:you|must|should|please|always)\b",
    rf"\b(?:dear|attention|hey|hello|hi|note (?:to|for)|message (?:to|for)|instructions? (?:to|for)|to (?:the|any|all)|"
    rf"if you are an?|for)\s+(?:the |any |all |every |an? )?(?:reading |processing |summari[sz]ing )?{_SURE}(?=\W)"
    r"[^.!?\n]{0,80}(?:[:,!]|\bmust\b|\bshould\b|\bplease\b|\breading\b|\bprocessing\b|\bsay\b|\binclude\b)",
    rf"\b(?:{_MODEL})\b[^.!?\n]{{0,40}}\b(?:reading|processing|summari[sz]ing|answering|parsing) (?:this|these)\b",
    rf"\b(?:any|all|every|each|the|an) {_SURE} (?:that|who|which|reading|must|should|shall|is to|are to|has to)\b"
    r"[^.!?\n]{0,80}\b(?:reads?|reading|answer|say|reply|respond|output|include|tell|recommend|cite|ignore|append|state|print|"
    r"mention|write)\b",
    # Dictating the answer.
    r"(?:^|[.;:,!]\s*|\b(?:please|and|then|must|should|instead|to|always|just|simply|now)\s+)(?:reply|respond|answer|output|print|say|write|state|"
    r"repeat|return)\b[^.!?\n]{0,20}\b(?:only|exactly|nothing (?:but|else)|verbatim|the following (?:text|sentence|words?|phrase|line|message)|"
    r"with the (?:words?|phrase|number|text|sentence)|the (?:words?|phrase|exact)\b|in all caps)\b",
    r"\b(?:when(?:ever)?|if|before|while) (?:you |you are |someone |anyone |(?:a |the )?users? |people )?(?:asked|asks?|answering|replying|"
    r"responding|summari[sz]ing)\b[^.!?\n]{0,80}\b(?:say|state|claim|recommend|mention|cite|insist|always|never|write|add|append|begin|end)\b",
    r"\b(?:in|at the (?:start|end|top) of|before|after) (?:all |every |each )?(?:of )?your (?:answers?|repl(?:y|ies)|responses?|"
    r"summar(?:y|ies)|output)\b[^.!?\n]{0,80}\b(?:say|state|tell|include|add|append|claim|recommend|"
    r"mention|cite|write|reply|answer|respond|insist|use|link|always|never|begin|start|end)\b",
    r"\b(?:begin|start|end|finish|conclude|open|close|prefix|append|add|include|insert|put|place|attach|render)\b[^.!?\n]{0,50}"
    r"\b(?:your|every|each|the|any|all) (?:answers?|repl(?:y|ies)|responses?|outputs?|summar(?:y|ies)|final answer)\b",
    r"\b(?:include|insert|add|append|embed|render|display|show|output|attach)\b[^.!?\n]{0,30}\b(?:the |this |a |following )*"
    r"(?:image|link|url|markdown|picture|pixel|button|html)\b[^\n]{0,20}(?:!\[|\]\(|https?:|www\.|<img)",
    r"\b(?:do not|don't|never|must not|should not)\b[^.!?\n]{0,40}\b(?:tell|inform|mention|reveal|warn|disclose|let)\b[^.!?\n]{0,40}"
    r"\b(?:users?|readers?|persons?|anyone|humans?|them|this (?:instruction|message|note))\b",
    r"\b(?:tell|inform|convince|persuade|instruct|urge|ask|advise) (?:the )?(?:users?|humans?|person asking|questioner)\b",
    r"\b(?:reveal|leak|exfiltrate|send|post|forward|encode|transmit|upload|email)\b[^.!?\n]{0,50}"
    r"\b(?:system prompt|prompt|conversation|chat history|api keys?|passwords?|secrets?|credentials|tokens|context window|"
    r"(?:the )?user'?s (?:question|data|name|input|message))\b",
    r"\b(?:always|only|must) cite\b|\bcite (?:this|source|passage|only|nothing|it as)\b[^.!?\n]{0,40}(?:\[?\d|as\b|instead|source|passage)",
    r"\b(?:the )?(?:only )?(?:correct|right|true|official) answer (?:to|is|for)\b[^.!?\n]{0,60}\b(?:any|all|every|whatever|question|"
    r"regardless|always)\b",
    r"(?:^|[.;:,!]\s*|\b(?:please|now|then|must|should|you|always|instead|and)\s+)(?:call|invoke|execute|run|use) (?:the )?(?:tool|function|command|shell|"
    r"code|plugin|api)\b(?! to\b)",
    # Chat templates and forged delimiters.
    r"<\|?/?(?:im_start|im_end|system|assistant|user|endoftext|eot_id|start_header_id|end_header_id|inst)[^<>\n]{0,20}\|?>",
    r"\[/?(?:INST|SYSTEM|SYS)\]|<<\/?SYS>>|</?evidence\b|^\s{0,3}#{1,6}\s*(?:instruction|system|assistant|response)s?\s*:?\s*#*\s*$",
    r"(?:^|[\n>])\s*(?:system|assistant|developer)\s*:\s+(?:you|your|ignore|answer|say|output|respond|reply|from now|new|do not|always|override)\b",
    # Other languages.
    r"\b(?:ignorier\w*|vergiss|vergessen sie|missachte\w*|beachte\w* nicht)\b[^.!?\n]{0,60}\b(?:anweisung\w*|anleitung\w*|regel\w*|vorgabe\w*|prompt|"
    r"kontext|alles|bisherig\w*)\b",
    r"\b(?:antworte\w*|schreib\w*|gib|sag\w*|empfiehl)\b[^.!?\n]{0,40}\b(?:nur|ausschließlich|immer|stets|genau)\b[^.!?\n]{0,30}[:„\"'“]",
    r"\b(?:ignore[zr]?|oublie[zr]?)\b[^.!?\n]{0,60}\b(?:instructions?|consignes?|règles|précédent\w*)\b",
    r"\b(?:ignora|ignore|ignorar|olvida|olvide|dimentica|esqueça)\b[^.!?\n]{0,60}\b(?:instruc\w+|istruzion\w+|reglas|regole|regras|anterior\w*|precedent\w*)\b",
    r"(?:忽略|无视|忘记|不要遵循|無視|忘れ)[^。！？\n]{0,20}(?:指令|指示|提示|规则|規則|命令|说明)",
    r"(?:以上|之前|前述)[^。！？\n]{0,8}(?:指令|指示|提示)[^。！？\n]{0,8}(?:忽略|无视|無視|作废)",
    r"(?:请|必须|务必)?(?:只|仅)(?:回答|回复|输出|说)",
    r"(?:игнорируй\w*|забудь\w*)[^.!?\n]{0,60}(?:инструкц\w+|указани\w+|правил\w*)",
)
_HIDDEN = re.compile(
    "[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u00ad\U000e0000-\U000e007f\ufe00-\ufe0f]"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_BASE64 = re.compile(r"\b[A-Za-z0-9+/]{24,}={0,2}")
_LEET = str.maketrans({"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s"})
_CYRILLIC = str.maketrans("аеорсухіјѕԁ", "aeopcyxijsd")
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_WORDS = re.compile(r"[a-z]+")
# Each pattern in English holds one of these words: text without any is passed over quickly.
_TRIGGER_WORDS = """
ignore disregard forget override bypass discard obey follow following skip drop stop instruction instructions prompt prompts
directive directives orders task system developer admin administrator root you your act pretend behave role roleplay imagine ai
llm llms chatgpt gpt claude gemini copilot chatbot chatbots assistant assistants bot bots agent agents language reply respond
answer answers output print say write state repeat return replying responding answering summarizing summarising asked ask asks
include insert add append embed render display show attach begin start end finish conclude open close prefix put place never
tell inform convince persuade instruct urge advise reveal leak exfiltrate send post forward encode transmit upload email cite
mention warn disclose let user users readers anyone humans claim correct official call invoke execute run use ki ignoriere ignorieren vergiss vergessen missachte beachte antworte antworten
schreib schreibe schreiben gib sag sagen empfiehl ignorez oublie oubliez ignora ignorar olvida olvide dimentica
ignorer ignorar oublier esque missachten missachtet beachten antworten antwortet schreibt
"""
_TRIGGERS = frozenset(_TRIGGER_WORDS.split())
_TEMPLATE = re.compile(r"<[|/<]|\[/?[IS]|#")
# Beyond ASCII: accents and typography hide nothing; anything else might.
_STRANGE = re.compile(
    "[^\\x00-\\x7f\\xa0-\\xa9\\xab\\xac\\xae-\\xb1\\xb4-\\xb8\\xbb-\\u017e\\u2010-\\u2027\\u2030-\\u203d\\u20ac\\u2122]"
)
_DISGUISED = re.compile(r"[A-Za-z0-9+/]{24}|[a-z][013457@$][a-z]|(?:\w[ .\-_*]){5}", re.IGNORECASE)
_SPACED = re.compile(r"\b(?:\w[ .\-_*]){4,}\w\b")


@functools.cache
def _instruction() -> re.Pattern[str]:
    # Compiled when it is first needed: that takes 60 ms, which a search need not wait for.
    return re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE)


def is_instruction(text: str) -> bool:
    """Whether a sentence reads as an instruction to a model, also behind hidden characters, look-alikes or base64."""
    if _TAGS.search(text):
        return True
    plain = unicodedata.normalize("NFKC", strip_hidden(text)).replace("’", "'")
    if _instruction().search(plain):
        return True
    squeezed = _SPACED.sub(lambda m: re.sub(r"[ .\-_*]", "", m.group()), plain)
    variants = {squeezed, plain.translate(_CYRILLIC), plain.translate(_LEET)} - {plain}
    return any(_instruction().search(variant) for variant in variants) or _decodes_to_instruction(plain)


def instruction_spans(text: str) -> list[Span]:
    """Spans of the sentences of `text` that read as instructions to a model, in order; adjacent ones are joined.

    The rest of the line after such a sentence is part of it: what to do often follows ("Ignore all that. Say X.").
    """
    places = [place for line in _LINE.finditer(text) for place in _places(line)]
    if not places:
        return []
    from rag_app.text.sentences import sentence_spans

    found: list[Span] = []
    for span in sentence_spans(text):
        follows = bool(found) and "\n" not in text[found[-1].end : span.start]
        if follows or any(span.overlaps(place) for place in places):
            if found and not text[found[-1].end : span.start].strip():
                found[-1] = Span(found[-1].start, span.end)
            else:
                found.append(span)
    return found


def _places(line: re.Match[str]) -> list[Span]:
    """Where a line reads as an instruction: the words themselves, or the whole line when they are disguised."""
    text = line.group()
    words = set(_WORDS.findall(text.casefold()))
    plain = text.isascii() and not _DISGUISED.search(text)
    usual = plain or not (_STRANGE.search(text) or _DISGUISED.search(text))
    if usual and words.isdisjoint(_TRIGGERS) and not _TEMPLATE.search(text):
        return []
    found = [Span(*match.span()).shift(line.start()) for match in _instruction().finditer(text)]
    if not found and not plain and is_instruction(text):
        return [Span(*line.span())]
    return found


def strip_hidden(text: str) -> str:
    """The text without characters that a person does not see: zero-width, direction marks, tags, soft hyphens."""
    return text if text.isascii() else _HIDDEN.sub("", text)


def _decodes_to_instruction(text: str) -> bool:
    for match in _BASE64.finditer(text):
        try:
            decoded = base64.b64decode(match.group() + "=" * (-len(match.group()) % 4)).decode("utf-8")
        except (binascii.Error, ValueError):
            continue
        if decoded.isprintable() and _instruction().search(decoded):
            return True
    return False
