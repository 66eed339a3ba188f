#include "base/flow.h"

#include <stdarg.h>
#include <string.h>

#include "base/escape.h"

#define ITEM_MAX 2048

void flow_start(struct flow *f, FILE *out, unsigned width, const char *start, const char *separator,
		const char *lead)
{
	*f = (struct flow){.out = out, .width = width, .separator = separator, .lead = lead};
	fputs(start, out);
	f->column = text_columns(start);
}

void flow_add(struct flow *f, const char *fmt, ...)
{
	char item[ITEM_MAX];
	unsigned columns;
	va_list args;

	va_start(args, fmt);
	vsnprintf(item, sizeof(item), fmt, args);
	va_end(args);
	columns = text_columns(item);
	if (f->some && f->column + text_columns(f->separator) + columns > f->width) {
		fprintf(f->out, "\n%s", f->lead);
		f->column = text_columns(f->lead);
	} else if (f->some) {
		fputs(f->separator, f->out);
		f->column += text_columns(f->separator);
	}
	fputs(item, f->out);
	f->column += columns;
	f->some = true;
}

void flow_words(struct flow *f, const char *text)
{
	while (*(text += strspn(text, " "))) {
		size_t len = strcspn(text, " ");

		flow_add(f, "%.*s", (int)len, text);
		text += len;
	}
}

void flow_end(struct flow *f)
{
	fputc('\n', f->out);
}
