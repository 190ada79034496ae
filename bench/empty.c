/* empty.c - what a process costs that does nothing: the unit in which short runs are counted. */
int main(void)
{
    return 0;
}
