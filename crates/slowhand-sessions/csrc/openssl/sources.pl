# What `make build_libs` of OpenSSL would do before it compiles, without make: run it where Configure ran, with the
# path of the sources. Generates the files that OpenSSL's build description (configdata.pm) says are generated from
# templates, then prints `source <path>` for each file of the static libraries and `include <path>` for each
# directory of headers.
use strict;
use warnings;
use lib '.';
use configdata;
use File::Basename;
use File::Path qw(make_path);

my ($root) = @ARGV;
my @libraries = qw(libcrypto libssl);
my (%seen, @products, %generated);

# The sources of a product, those of the libraries that are part of it or that it needs included.
sub sources {
    my ($product) = @_;
    return () if $seen{$product}++;
    push @products, $product;
    my @sources;
    for my $part (@{$unified_info{sources}{$product} // []}) {
        push @sources, $part =~ /\.a$/ ? sources($part) : @{$unified_info{sources}{$part}};
    }
    return @sources, map { sources($_) } grep { /\.a$/ } @{$unified_info{depends}{$product} // []};
}

# Generates a file, after those that it depends on. Fails as the generator fails.
sub generate {
    my ($file) = @_;
    return if $generated{$file}++;
    my @needed = @{$unified_info{depends}{$file} // []};
    generate($_) for grep { $unified_info{generate}{$_} } @needed;
    my ($generator, @arguments) = @{$unified_info{generate}{$file}};
    my @command;
    if ($generator =~ /\.in$/) {
        # A module is given with its directory as "directory|file" where the name has several parts.
        my @modules = map {
            my ($directory, $module) = /\|/ ? split /\|/ : (dirname($_), basename($_));
            $module =~ s/\.pm$//;
            ("-I$directory", '-M' . join '::', split m{/}, $module);
        } grep { /\.pm$/ && $_ ne 'configdata.pm' } @needed;
        @command = ('-I.', '-Mconfigdata', @modules, "$root/util/dofile.pl", '-oMakefile', $generator);
    } else {
        # The compiler's command line is the one generator argument that is a variable of the makefile.
        @command = ($generator, map { /\$/ ? 'cc' : s/^"|"$//gr } @arguments);
    }
    make_path(dirname($file));
    open my $output, '-|', $^X, @command or die "$file: $!";
    open my $written, '>', $file or die "$file: $!";
    print {$written} readline $output;
    close $written or die "$file: $!";
    close $output or die "$file: its generator failed\n";
}

my @sources = map { sources($_) } @libraries;
my @headers = grep { /\.h$/ && m{^(include|providers/common/include|crypto)/} } keys %{$unified_info{generate}};
generate($_) for sort @headers;
generate($_) for grep { $unified_info{generate}{$_} } @sources;
my %includes = map { $_ => 1 } map { @{$unified_info{includes}{$_} // []} } @products;
print "include $_\n" for sort keys %includes;
print "source $_\n" for @sources;
